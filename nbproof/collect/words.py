"""Words in the names of files and folders that are no learner's name."""

from __future__ import annotations

import re

__all__ = ["COPY", "NOBODY", "TASK"]

COPY = frozenset(
    re.findall(
        r"\w+",
        """
        copy copie copia kopie cópia còpia kopia kopi kopio kópia kópie kopija kopya kópiája másolat másolata koopia
        копия копія копие копија kopyası salinan αντίγραφο העתק عותק نسخة نسخه 副本 拷贝 複製 复制 コピー 복사본 사본 สำเนา
        duplicate duplikat duplicado doublon
        """,
    )
)
"""What systems call a copy."""

TASK = frozenset(
    re.findall(
        r"\w+",
        """
        lesson lessons assignment assignments homework homeworks exercise exercises submission submissions handin handins
        notebook notebooks ipynb jupyter colab untitled worksheet coursework abgabe abgaben aufgabe aufgaben
        übung übungen uebung uebungen hausaufgabe hausaufgaben lektion lösung lösungen loesung loesungen devoir devoirs
        leçon rendu exercice exercices tarea tareas lección entrega entregas ejercicio ejercicios solución lição tarefa
        tarefas exercício exercícios consegna compito compiti esercizio esercizi lezione opdracht opgave oppgave
        innlevering inlämning uppgift tehtävä zadanie zadania lekcja úkol ödev задание задания урок работа решение
        упражнение домашнее 作业 作業 练习 課題 宿題 과제 숙제
        """,
    )
)
"""What is handed in: a name that holds one of these is not a learner's."""

NOBODY = (
    COPY
    | TASK
    | frozenset(
        re.findall(
            r"\w+",
            """
            archive extracted downloaded download downloads upload uploads hw lab labs week final new old solution
            solutions solved answer answers done file files my updated fixed version v class inbound release latest
            attempt draft todo complete completed finished onlinetext comments edited of real really the this one is it
            work project content desktop documents src code data student students collected part task test zip
            checkpoints hand handed in turn turned outer inner nested wrapper wrapped folder folders directory dir
            attachment attachments attached mail mails email message messages inbox eml mbox msg scan scans screenshot
            screenshots image images picture pictures figures photo print printed export exported pdf doc docx odt rtf
            pages txt html htm md py json csv xls xlsx png jpg jpeg gif svg gz tar tgz rar xz bak tmp temp backup shortcut
            finale endgültig entwurf neu alt fertig nuevo nueva versión borrador définitif brouillon nouveau nouvelle
            ordner carpeta dossier cartella папка файл новая новый
            """,
        )
    )
)
"""Words that no learner's name is made of alone."""
