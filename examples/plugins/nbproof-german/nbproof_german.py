"""What learners of a course read, in German: ``course.toml`` says ``language = "german"``.

Every text of ``TEXTS`` (nbproof.values.words), ``PAGE_TEXTS`` (nbproof.feedback.page_texts) and ``SEARCH_TEXTS``
(nbproof.recover.search_texts) has its German one here; what a newer nbproof adds is said in English until it has one.
"""

from __future__ import annotations

from nbproof.values.words import Language

__all__ = ["WORDS"]


WORDS = Language(
    {
        # Was ein Wert ist.
        "value str": "ein String",
        "value bool": "ein bool",
        "value int": "ein int",
        "value float": "ein float",
        "value NoneType": "None",
        "value list": "eine Liste von {of}",
        "value tuple": "ein Tupel von {of}",
        "value dict": "ein dict von {of}",
        "value function": "eine Funktion ({of})",
        "value long text": "ein String aus {of} Zeichen",
        "value object": (
            "ein {name}",
            "ein {name}",
        ),
        "value torch": "ein Tensor",
        "value numpy": "ein Array",
        "value pandas": "eine Tabelle",
        "value polars": "eine Tabelle",
        "items": (
            "{count} Eintrag",
            "{count} Einträgen",
        ),
        "of shape": "{what} der Form {shape}",
        "something else": "etwas anderes",
        # Der erste Unterschied.
        "the result": "das Ergebnis",
        "found shape": "{where} hat die Form {got}",
        "found dtype": "{where} hat den dtype {got}",
        "found count": "{where} besteht aus {got}",
        "found key missing": "{where} hat {got}",
        "found key extra": "{where} hat {got}",
        "found missing": "{where} fehlt",
        "found extra": "{where} ist da",
        "found": "{where} ist {got}",
        "the keys": "die Schlüssel {got}",
        "not right": "{found}, und das ist nicht richtig",
        "instead of what": "{found}, verlangt ist {wanted}",
        "one too many": "{found}, verlangt ist nur {wanted}",
        "more": "{found} ({detail})",
        "detail of count": "es kam {got}",
        "detail of key missing": "{got} fehlt",
        "detail of key extra": "{got} ist zu viel",
        "detail of nonfinite": "{got} an der Stelle {index}",
        "both": "{got} statt {wanted}",
        "elements": "{differ} von {of} Elementen sind anders, zuerst an der Stelle {index}: {both}",
        # Was eine Prüfung beendet hat.
        "line": "Zeile {line} deiner Zelle",
        "line and code": "Zeile {line} deiner Zelle: {code}",
        "stands": "`{name}` ist {what}",
        "not defined": "`{name}` ist nicht definiert",
        "to define": "{stands}. Führe die TODO-Zelle der Aufgabe aus, dann noch einmal diese.",
        "not asked for": "{stands}, verlangt ist {wanted}.",
        "to be list": "eine Liste",
        "to be function": "eine Funktion",
        "to be module": "ein nn.Module",
        "hidden stands": "{stands}, wenn eine verdeckte Prüfung danach fragt",
        "hidden error": "{error}, in einer verdeckten Prüfung",
        "another error": "Ein Fehler anderer Art",
        "hidden failed": "Eine verdeckte Prüfung ist nicht bestanden.",
        "not comparable": "Was dein Code gebracht hat, lässt sich nicht mit dem Verlangten vergleichen ({error}); "
        "bitte melde das",
        "too large": "Was dein Code gebracht hat, lässt sich nicht vergleichen: Das braucht mehr Speicher oder Zeit, "
        "als es gibt",
        # Wie eine Aufgabe ausging.
        "status passed": "Bestanden",
        "status failed": "Noch nicht",
        "status error": "Endete mit einem Fehler",
        "status timeout": "Die Zeit ging aus",
        "status out of memory": "Der Speicher ging aus",
        "status killed": "Hat sich selbst beendet",
        "status not answered": "Nicht beantwortet",
        "status uncertain": "Wartet auf deine Lehrperson",
        "every check passed": "Jede Prüfung ist bestanden.",
        "as handed out": "Die TODO-Zelle ist so, wie sie ausgeteilt wurde.",
        "because of exercise time": "Dein Code lief nach {limit:g} Sekunden noch; so viel hat eine Aufgabe.",
        "because of notebook time": "Die Zeit für das ganze Notebook, {limit:g} Sekunden, war vorbei.",
        "because of memory": "Dein Code brauchte mehr als {limit:.0f} MB Speicher.",
        "because of disk": "Dein Code schrieb mehr als {limit:.0f} MB an Dateien, oder {detail} davon.",
        "because of processes": "Dein Code startete mehr als {limit:.0f} Prozesse und Threads.",
        "because of protocol": "Dein Code hat in den Prozess eingegriffen, in dem er lief: {detail}.",
        "because of ended": "Dein Code hat den Prozess beendet, in dem er lief: {detail}.",
        "because of error": "Deine Zelle endete mit einem Fehler: {detail}",
        "because of early": "Dein Code endete, bevor jede Prüfung gelaufen war.",
        "because of lost": "{detail}",
        "because of newer Python": "Deine Zelle ist für Python {detail} geschrieben. Ein älteres kann ihren f-String "
        "nicht lesen: Ein Mensch muss sie ansehen.",
        "because of rigged": "Deine Antwort ändert eine Bibliothek für alle, und eine falsche Antwort besteht "
        "daneben: Ein Mensch sieht sie an.",
        "because of names of the engine": "Dein Notebook nennt {detail}, einen Teil dessen, was Prüfungen "
        "beantwortet: Ein Mensch sieht es an.",
        # Die Tafel unter einer Prüfung.
        "asked": "gefragt",
        "looks like": "Sieht aus wie",
        "where": "wo",
        "got": "deins",
        "wanted": "verlangt",
        "passed": "bestanden",
        "not yet": "noch nicht",
        "share": "({passed} von {of} Prüfungen)",
        "passed what is shown": (
            "hat die Prüfung hier bestanden",
            "hat die {count} Prüfungen hier bestanden",
        ),
        "withheld": (
            "({count} weitere läuft, wenn bewertet wird)",
            "({count} weitere laufen, wenn bewertet wird)",
        ),
        "printed": "während der Prüfung ausgegeben",
        "more rows": (
            "{count} weitere Zeile",
            "{count} weitere Zeilen",
        ),
        "ask for help": "`hint()` in einer Zelle hilft weiter.",
        "untouched": "ist noch so, wie du es bekommen hast. Schreib deine Antwort in die TODO-Zelle darüber, führe "
        "sie aus, dann diese.",
        "see above": "noch nicht, siehe oben",
        "the check of": "die Prüfung von {exercise}",
        "later": "{what}: wird beim Bewerten nicht gezeigt",
        # Hilfe: je eine Tatsache, und was dann zu tun ist.
        "steps": (
            "eine Frage",
            "die Idee",
            "wo es steht",
        ),
        "step": "{number} von 3, {name}",
        "a way in": "Ein Anfang.",
        "next step": "Führe diese Zelle noch einmal aus: Dann kommt der nächste Schritt.",
        "last step": "Mehr Hilfe gibt es nicht. Den Rest sagt, was die Prüfung über dein Ergebnis sagt.",
        "no check": (
            "Noch ist keine Prüfung gelaufen.",
            "Führe die Zelle unter einer Aufgabe aus, um sie zu prüfen; danach weiß `hint()`, was falsch war. Für "
            'einen Anfang nenne den Namen, der unter der Überschrift einer Aufgabe steht: `hint("ihr_name")`.',
        ),
        "no hints": (
            "Zu `{exercise}` gibt es keine Hilfe.",
            "Lies, was die Prüfung sagt, und den Absatz über der Aufgabe.",
        ),
        "unknown": (
            "Keine Aufgabe heißt `{exercise}`.",
            "Ihr Name steht in der Tafel, die ihre Prüfung zeigt.",
        ),
        "one has passed": (
            "Diese Prüfung von `{exercise}` ist bestanden.",
            "Die Aufgabe hat noch eine: Führe auch sie aus.",
        ),
        "all have passed": (
            "`{exercise}` hat alle Prüfungen bestanden.",
            "Da ist nichts mehr zu helfen. Weiter zur nächsten.",
        ),
        "shown have passed": (
            "`{exercise}` hat alle Prüfungen bestanden, die hier gezeigt werden.",
            "{more}, mit anderen Eingaben: Lies noch einmal, was der Text verlangt. Dann weiter zur nächsten.",
        ),
        "more run": (
            "{count} weitere Prüfung läuft, wenn bewertet wird",
            "{count} weitere laufen, wenn bewertet wird",
        ),
        # Richtige Antworten.
        "reference": "Die Musterlösung",
        "also right": "Auch richtig: {name}",
        "no diary": (
            "Die Datei mit deinem Fortschritt lässt sich nicht lesen.",
            "{error}",
        ),
        "not solved": (
            "`{exercise}` ist noch nicht gelöst.",
            "Löse sie zuerst, dann vergleiche.",
        ),
        "hint helps": '`hint("{exercise}")` hilft dir beim Anfang.',
        "not handed out": (
            "Die richtigen Antworten gehören nicht zu dem, was du bekommen hast.",
            "Deine Lehrperson hat sie. Deine ist eine davon.",
        ),
        # Fortschritt.
        "your progress": "Dein Fortschritt",
        "on this computer": "nur auf diesem Rechner",
        "not kept": "Der Fortschritt wird nicht festgehalten: {error}",
        "cannot be used": "{path} lässt sich nicht benutzen: {error}",
        "state solved": "gelöst",
        "state tried": "versucht",
        "state untried": "noch nicht versucht",
        "lesson": "Lektion {number}",
        "row": "{title} ({id}): {state}, {minutes} min",
        "go on": "Weiter geht es mit {title} in {lesson} ({minutes} Minuten).",
        "total": "{solved} von {of} Aufgaben gelöst{more}, {points:g} von {most:g} Punkten, {rest}",
        "more when graded": (
            "; {count} weitere Prüfung läuft, wenn bewertet wird",
            "; {count} weitere Prüfungen laufen, wenn bewertet wird",
        ),
        "left": "noch etwa {time}",
        "nothing left": "nichts bleibt zu tun",
        "minutes": "{count} Minuten",
        "hours": "{count:.0f} Stunden",
        # Die Seite mit der Rückmeldung.
        "page language": "de",
        "page title": "{title}: Rückmeldung für {learner}",
        "page over": "Rückmeldung zu {lesson} für {learner}",
        "page of points": "{score} von {most} Punkten",
        "page total": "Zusammen",
        "page marked": "Deine Lehrperson hat deine Arbeit bewertet.",
        "page note": "Anmerkung: {what}",
        "page note on file": "Anmerkung zu deiner Datei: {what}",
        "page refused by itself": "Was du abgegeben hast, ließ sich nicht von selbst bewerten: {problem}",
        "page refused": "Das ließ sich nicht bewerten",
        "page refused advice": "Was du abgegeben hast, bleibt aufbewahrt, wie es ist. Speichere das Notebook dieser "
        "Lektion in JupyterLab und gib die .ipynb-Datei selbst noch einmal ab. Wenn du nicht erkennst, was falsch "
        "ist, frage deine Lehrperson und zeige ihr diese Seite.",
        "page waits": (
            "{points} davon bewertet noch ein Mensch",
            "{points} davon bewertet noch ein Mensch",
        ),
        "page below 0": "die Punkte unten ergeben {points}, und weniger als 0 zählt als 0",
        "page solved": "{solved} von {of} Aufgaben gelöst.",
        "page full marks": "Volle Punktzahl.",
        "page instructor says": "Deine Lehrperson sagt",
        "page exercises": "Aufgaben",
        "page exercise": "Aufgabe",
        "page how": "Wie sie ausging",
        "page points": "Punkte",
        "page short points": "{score} von {most}",
        "page by hand": "Von deiner Lehrperson bewertet",
        "page by hand before": "Von deiner Lehrperson bewertet, bevor sich etwas geändert hat",
        "page partly": "Zum Teil richtig",
        "page points by hand": "Die Punkte hat deine Lehrperson gegeben. Das Übrige haben die Prüfungen gefunden.",
        "page asked": "Gefragt:",
        "page in numbers": "Dasselbe in Zahlen",
        "page yours": "deins",
        "page wanted": "verlangt",
        "page looks like": "Sieht aus wie {what}",
        "page printed": "Während der Prüfung ausgegeben",
        "page way in": "Ein Anfang",
        "page hint": "Im Notebook zeigt {command} in einer Zelle dasselbe, Schritt für Schritt.",
        "page right": "richtig: ",
        "page not yet": "noch nicht: ",
        "page answer": "Deine Antwort",
        "page long answer": "Deine Antwort, {lines} Zeilen",
        "page cells below": "Deine Zellen darunter",
        "page made": "Was deine Zelle gemacht hat",
        "page cell printed": "Was deine Zelle ausgegeben hat",
        "page picture": "ein Bild, das deine Zelle gemacht hat",
        "page steps": (
            "Eine Frage",
            "Die Idee",
            "Wo es steht",
        ),
        "page graded": "Bewertet {when}.",
        "page graded by seed": "Bewertet {when}, Testfälle des Startwerts {seed}.",
        "page shows panels": "Führe die Zellen deines Notebooks aus: Die Prüfungen zeigen dieselben Tafeln, und "
        "{command} hilft dort weiter.",
        "page tests say": "Die Tests in deinem Notebook sagen dasselbe, wenn du ihre Zellen ausführst.",
        "page unwritten cell": "In diese Zelle wurde nichts geschrieben.",
        "page unwritten": "Hier wurde nichts geschrieben.",
        "page is read": "Diese Antwort liest ein Mensch. Die Punkte kommen mit der Bewertung.",
        "page not asked for": "`{where}` ist nicht das, was verlangt war.",
        "page not asked for more": "`{where}` ist nicht das, was verlangt war: {more}.",
        "page advice timeout": "Meist ist es eine Schleife, die nie endet: Solange eine solche Zelle läuft, steht "
        "`[*]` daneben. Deine anderen Aufgaben wurden ohne sie bewertet.",
        "page advice out of memory": "Meist ist es eine Liste, die bei jedem Durchgang wächst, oder Werte, die viel "
        "größer sind als nötig. Deine anderen Aufgaben wurden ohne sie bewertet.",
        "page advice killed": "`exit()`, `quit()` und `os._exit()` beenden Python selbst, und damit die Prüfung. "
        "Deine anderen Aufgaben wurden ohne sie bewertet.",
        "page handed in": "Abgegeben {when}.",
        "page due": "Fällig {when}.",
        "page due extended": "Fällig {when}, mit deiner Verlängerung.",
        "page late": "Zu spät",
        "page late by": "Zu spät um {time}",
        "page late costs": "{how}; Punktabzug: {points}.",
        "page late is free": "{how}; ohne Punktabzug.",
        # Wie eine Antwort gefunden wurde, die nicht an ihrem Platz stand.
        "search cell": "Zelle {number} von {count}",
        "search file": "die Datei {name}",
        "search split": "Die TODO-Zelle war in {count} Zellen zerlegt. Sie wurden wieder zusammengesetzt.",
        "search head": "[Nicht sicher die Antwort, und nicht bewertet: Ein Mensch muss sie ansehen.]",
        "search waits": "{why} Code in {where} kann die Antwort sein, aber das ist nicht sicher: Er hat noch keine "
        "Punkte, und ein Mensch muss ihn ansehen. Gebraucht wird ein Notebook mit dem Code in der TODO-Zelle.",
        "search absent": "Das Notebook enthält nichts davon: Vielleicht ist es älter als dieser Teil der Lektion. "
        "Deine Lehrperson hat die Lektion, wie sie jetzt ist.",
        "search comments": "Die TODO-Zelle enthält Code nur in Kommentaren.",
        "search text cell": "Die TODO-Zelle war zu einer Textzelle geworden.",
        "search twice": "Die TODO-Zelle gibt es mehrmals. Es zählt die, in der gearbeitet wurde.",
        "search broken off": "Die Datei bricht mitten in dieser TODO-Zelle ab. Gebraucht wird das ganze Notebook.",
        "search below": "Die TODO-Zelle ist so, wie sie ausgeteilt wurde. Code dafür stand darunter in eigenen Zellen "
        "und lief dort.",
        "search several": "In mehreren TODO-Zellen wurde gearbeitet. Es zählt die direkt über der Prüfung, wie bei "
        "Run All.",
        "search undecided": "In mehreren TODO-Zellen wurde gearbeitet, und die Prüfung steht nicht darunter.",
        "search by place": "Die TODO-Zelle hatte ihre Kennung verloren und wurde an ihrem Platz gefunden.",
        "search missing": "Die TODO-Zelle fehlt.",
        "search no code": "Die TODO-Zelle enthält keinen Code.",
        "search lost": "Die TODO-Zelle fehlt, und keine andere Zelle enthält eine Antwort. Gebraucht wird das "
        "Notebook mit der Zelle.",
        "search another's": "Die TODO-Zelle enthält auch Code für `{name}`.",
        "search before": "Die Datei bricht vor dieser Zelle ab. Gebraucht wird das ganze Notebook.",
        "search words lost": "Die Zelle für die Antwort in Worten fehlt. Gebraucht wird das Notebook mit der Zelle.",
        "search more text": "Weiterer Text stand in {where}. Er steht unter der Antwort.",
        "search other text": "In der Zelle dafür stand nichts. Was die Antwort sein kann, steht in {where}: Ein "
        "Mensch sieht es an.",
        "search another": "es ist ein anderes Notebook: Keine seiner {count} Zellen gehört zu {lesson}",
    }
)
