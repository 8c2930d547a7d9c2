// The question's page: keys and buttons, and what the server says to them. No text of a learner's is read or written here.
"use strict";
const answers = document.getElementById("answers");
const order = answers.dataset.order.split(",").filter(Boolean);
const status = document.getElementById("said");
const find = (name) => document.getElementById(name);
let comments = JSON.parse(answers.dataset.comments);
let names = {};
let pages = {};
let namesShown = false;
let loading = null;
let queue = Promise.resolve();
// Keys typed while the focus is on its way; null if it is not.
let held = null;
// What stood in the comment's box before another one was chosen.
let draft = "";
// When the last button of points was clicked.
let clicked = -Infinity;
// Id of a group -> when it got its last mark; when it became another one than the page had shown.
const touched = {};
const changed = {};
const BURST = 500;

const groups = () => [...answers.querySelectorAll(".group")];
const here = () => answers.querySelector(".group.here");

const unloaded = () => order.filter((id) => !find("g-" + id));
const waits = (group) => Number(group.dataset.waiting) && !group.classList.contains("busy");

function say(text, wrong) {
  const red = wrong ? 0 : answers.querySelectorAll(".unkept").length;
  if (red) text += ` Not kept: ${red}, with a red border.`;
  status.textContent = "";
  status.classList.toggle("wrong", Boolean(wrong));
  // A reader of the screen tells a text that is new, also if it is the same one.
  setTimeout(() => { status.textContent = text; }, 10);
}

function leave() {
  here()?.removeAttribute("aria-current");
  here()?.classList.remove("here");
}

// The next key marks nothing.
function focusNone() {
  document.activeElement.blur();
  leave();
}

function go(group, stay = false) {
  if (!group) return;
  if (here() !== group) leave();
  group.classList.add("here");
  group.setAttribute("aria-current", "true");
  if (!group.contains(document.activeElement)) group.focus({ preventScroll: true });
  if (!stay) group.scrollIntoView({ block: "nearest" });
  const left = groups().length - groups().indexOf(group);
  if (left < 15) more();
}

// Whether a group stands on the screen, or enough of one that is longer.
function isSeen(group) {
  const { top, bottom, height } = group.getBoundingClientRect();
  return Math.min(bottom, innerHeight) - Math.max(top, 0) >= Math.min(height, innerHeight) / 2;
}

// While this works nobody knows which group has the focus: keys wait until it is done.
async function hold(work) {
  if (held) return work();
  held = [];
  try { await work(); } finally {
    const keys = held;
    held = null;
    for (const key of keys) {
      if (held) held.push(key);
      else if (!press({ key, target: document.activeElement }) && isBox(document.activeElement)) {
        if (key === "Backspace") document.execCommand("delete");
        else if (key.length === 1) document.execCommand("insertText", false, key);
      }
    }
  }
}

async function ask(path, body) {
  const how = body === undefined ? {} : {
    method: "POST", body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", "X-XSRFToken": document.querySelector("meta[name=xsrf]").content },
  };
  const answer = await fetch(path, how);
  const told = answer.headers.get("Content-Type").includes("json") ? await answer.json() : { said: await answer.text() };
  return { ok: answer.ok, ...told };
}

function more() {
  const ids = unloaded().slice(0, 40);
  if (loading || !ids.length) return loading;
  loading = ask("part?ids=" + ids.join(",")).then((told) => {
    loading = null;
    if (!told.ok) return say(told.said, true);
    answers.insertAdjacentHTML("beforeend", told.groups.join(""));
    // Answers that are not there any more.
    if (!told.groups.length) ids.forEach((id) => order.splice(order.indexOf(id), 1));
    find("more").hidden = !unloaded().length;
    showNames();
    return true;
  }).catch(async () => {
    // What is said of marks that are on their way comes first: this must not be lost below it.
    await queue;
    // Not before: a mark that is shown meanwhile would ask once more, and this would be said again, of no key.
    loading = null;
    say("The desk does not answer: does its command still run?", true);
  });
  return loading;
}

function step(by) {
  const all = groups();
  const none = by > 0 ? -1 : all.length;
  const at = here() ? all.indexOf(here()) : none;
  if (at + by < all.length || !unloaded().length) return go(all[Math.max(0, at + by)]);
  return hold(async () => {
    if (await more()) go(groups()[at + by]);
    else focusNone();
  });
}

// The next group that waits; after the last one, the first from the top. If none waits, none has the focus.
function toWhatWaits(id) {
  const all = groups();
  const next = all.slice(all.indexOf(find(id)) + 1).find(waits);
  if (next) return go(next);
  if (unloaded().length) {
    return hold(async () => {
      if (await more()) await toWhatWaits(id);
      else focusNone();
    });
  }
  const first = all.find(waits);
  if (first) return go(first);
  focusNone();
}

// A group as it is now. What is typed in it stays, and so does the focus. ``sent``: the comment that is kept by now.
// ``besideId``: of the group that a new one comes below.
function put(html, sent, besideId) {
  const made = document.createRange().createContextualFragment(html).firstElementChild;
  const old = find(made.id);
  const beside = find(besideId);
  if (!old && !beside) return made.id;
  const count = Number(find("waiting").textContent) + Number(made.dataset.waiting);
  find("waiting").textContent = count - Number(old?.dataset.waiting || 0);
  if (!old) {
    beside.after(made);
    order.splice(order.indexOf(beside.id.slice(2)) + 1, 0, made.id.slice(2));
    return made.id;
  }
  const [box, other] = [".comment-box", ".other-points"].map((one) => old.querySelector(one));
  const active = old.contains(document.activeElement) ? document.activeElement : null;
  const place = active === box ? [box.selectionStart, box.selectionEnd] : null;
  if (box.value !== box.defaultValue && box.value !== sent) made.querySelector(".comment-box").value = box.value;
  made.querySelector(".other-points").value = other.value;
  const panel = old.querySelector(".panel");
  // What was looked up stays, but for a list of answers: their marks may be others now.
  if (!panel.hidden && panel.dataset.shows === "differs") {
    made.querySelector(".panel").replaceWith(panel);
    made.querySelector(".differs").setAttribute("aria-expanded", "true");
  }
  if (old === here()) {
    made.classList.add("here");
    made.setAttribute("aria-current", "true");
  }
  old.replaceWith(made);
  if (active) ((active !== old && made.querySelector("." + active.classList[0])) || made).focus({ preventScroll: true });
  if (place) made.querySelector(".comment-box").setSelectionRange(...place);
  return made.id;
}

function drop(group) {
  find("waiting").textContent -= group.dataset.waiting;
  order.splice(order.indexOf(group.id.slice(2)), 1);
  group.remove();
}

// The rubric and all groups of the page as they are now.
async function refresh() {
  const ids = groups().map((group) => group.id.slice(2));
  do {
    const told = await ask("part?ids=" + ids.slice(0, 40).join(","));
    if (!told.ok) return say(told.said, true);
    find("rubric").innerHTML = told.rubric;
    const made = told.groups.map((html) => put(html));
    ids.splice(0, made.length ? ids.indexOf(made.at(-1).slice(2)) + 1 : 40);
  } while (ids.length);
  showNames();
}

// One after another: the second key of two quick ones sees what the first has done.
function send(work, then) {
  queue = queue.then(async () => {
    let told = { ok: false, said: "Not kept: the desk does not answer. Does its command still run?" };
    try { told = await work(); } catch { /* what is told says it */ }
    await then(told);
    showNames();
  });
  return queue;
}

function mark(group, points, letter) {
  const { id, dataset: { rubric } } = group;
  const typed = performance.now();
  const box = group.querySelector(".comment-box");
  const comment = box.value === box.defaultValue ? null : box.value;
  if (points === null && !letter && comment === null) return say("There is no new comment.");
  const what = points === null ? "Comment kept" : `${points} ${points === 1 ? "point" : "points"}${comment ? ", with a comment" : ""}`;
  if (points !== null) group.classList.add("busy");
  if (points !== null || letter) touched[id] = typed;
  send(async () => {
    const now = find(id);
    // This was typed for what stood there before.
    if (!now || changed[id] > typed) return { ok: false, said: "Not kept: the answers, or their mark, have changed just before." };
    const before = now.dataset.letters;
    const toggled = before.includes(letter) ? before.replace(letter, "") : before + letter;
    return ask("mark", { answers: JSON.parse(now.dataset.seen), points, comment, letters: letter ? toggled : null, rubric });
  }, async (told) => {
    find(id)?.classList.remove("busy");
    if (!told.ok) {
      showTheirs(id, told, comment);
      if (told.rubric) await refresh();
      return say(told.said, true);
    }
    Object.values(told.groups).forEach((html) => put(html, comment));
    if (comment && !comments.includes(comment)) comments.unshift(comment);
    say(`${letter ? find(id).querySelector(".chip").textContent : what}. ${find("waiting").textContent} wait.`);
  });
  // At once: the next key is for the next group, however slow the server is.
  if (points !== null) toWhatWaits(id);
}

// A mark was not kept: show what stands there now. The focus stays where it is: the next key may be typed already.
function showTheirs(id, told, comment) {
  const old = find(id);
  if (!old) return;
  const wasHere = old === here();
  const ids = Object.values(told.groups || {}).map((html) => put(html, null, id));
  for (const one of [id, ...ids]) touched[one] = changed[one] = performance.now();
  // Nothing came in its place: what was typed stays, and so do the answers.
  const isGone = ids.length && !ids.includes(id);
  (isGone ? ids : [id]).forEach((one) => find(one).classList.add("unkept"));
  if (!isGone) return;
  // The answer is another one now. What was typed is not lost.
  if (comment !== null) find(ids[0]).querySelector(".comment-box").value = comment;
  drop(old);
  if (wasHere) go(find(ids[0]));
}

// What stands below the answers of a group when it is asked for: ``differs`` or ``single``, as the class of its button.
async function look(group, what, path) {
  const { id } = group;
  const panel = group.querySelector(".panel");
  const shown = !panel.hidden && panel.dataset.shows;
  hidePanel(group);
  if (shown === what) return say("Hidden.");
  await queue;
  const told = await ask(path).catch(() => ({ said: "The desk does not answer: does its command still run?" }));
  const now = find(id);
  if (!now || !told.ok) return say(told.said, true);
  const made = now.querySelector(".panel");
  made.innerHTML = told.html;
  made.dataset.shows = what;
  made.hidden = false;
  now.querySelector("." + what).setAttribute("aria-expanded", "true");
  showNames();
  say(told.said);
  if (now === here() && !isBox(document.activeElement)) made.querySelector(".out")?.focus();
}

// Whether there was anything to hide.
function hidePanel(group) {
  const panel = group.querySelector(".panel");
  const isOpen = !panel.hidden;
  if (panel.contains(document.activeElement)) group.focus({ preventScroll: true });
  panel.hidden = true;
  group.querySelectorAll(".looks [aria-expanded]").forEach((one) => one.setAttribute("aria-expanded", "false"));
  return isOpen;
}

function differ(group) {
  const above = groups()[groups().indexOf(group) - 1];
  if (!above) return say("No answer stands above this one.");
  return look(group, "differs", `difference?of=${group.id.slice(2)}&above=${above.id.slice(2)}`);
}

// The answers of a group one by one, or one that was alone back into its group.
function part(group) {
  if (group.querySelector(".single")) return look(group, "single", `members?of=${group.id.slice(2)}`);
  if (group.querySelector(".back")) return takeOut(group, Object.keys(JSON.parse(group.dataset.seen))[0], false);
  say("This is one answer: there is none to take out.");
}

// One answer out of its group, or back into it.
function takeOut(group, answer, out) {
  const { id } = group;
  const box = group.querySelector(".comment-box");
  if (!out && box.value !== box.defaultValue) return say("Keep its comment first, or take it out of the box.", true);
  hold(() => send(async () => {
    const seen = JSON.parse(find(id)?.dataset.seen || "{}")[answer];
    if (!seen) return { ok: false, said: "Not done: the answers have changed just before." };
    return ask("apart", { answer, seen, out });
  }, async (told) => {
    if (!told.ok) {
      if (told.groups) showTheirs(id, told, null);
      return say(told.said, true);
    }
    go(find(regroup(told)[0]));
    say(out ? "Taken out: this answer is marked alone now." : "Put back into its group.");
  }));
}

// Groups that have parted, or come together. Returns the ids of those that are there now, a new one first.
function regroup(told) {
  const known = (id) => find("g-" + id);
  const beside = [...Object.keys(told.groups), ...told.gone].find(known);
  const fresh = Object.keys(told.groups).filter((id) => !known(id));
  Object.values(told.groups).forEach((html) => put(html, null, "g-" + beside));
  told.gone.filter(known).forEach((id) => drop(known(id)));
  find("group-count").textContent = `${order.length} ${order.length === 1 ? "group" : "groups"}`;
  return [...new Set([...fresh, ...Object.keys(told.groups)])].map((id) => "g-" + id);
}

function undo() {
  hold(() => send(() => ask("undo", {}), async (told) => {
    const ids = told.gone ? regroup(told) : Object.values(told.groups || {}).map((html) => put(html));
    if (told.rubric) await refresh();
    if (told.ok) {
      ids.forEach((id) => { delete touched[id]; });
      say(told.said === "undone" ? `Undone. ${find("waiting").textContent} wait.` : told.said);
      return go(find(ids[0]));
    }
    ids.forEach((id) => { changed[id] = performance.now(); });
    // They were typed for what the undo was to bring back.
    say(told.said + (held.length ? " What you typed after it was not used." : ""), true);
    held.length = 0;
  }));
}

// A new item of the rubric, without leaving the page.
function addItem(form) {
  const body = new URLSearchParams(new FormData(form));
  (here() || answers).focus();
  hold(() => send(async () => {
    const answer = await fetch("rubric", { method: "POST", body, redirect: "manual" });
    return answer.type === "opaqueredirect" ? { ok: true } : { ok: false, said: await answer.text() };
  }, async (told) => {
    if (!told.ok) return say(told.said, true);
    say("The item is kept.");
    await refresh();
  }));
}

async function toggleNames() {
  namesShown = !namesShown;
  if (namesShown) {
    const told = await ask("names");
    names = told.names || {};
    pages = told.pages || {};
  }
  find("names").setAttribute("aria-pressed", String(namesShown));
  showNames();
  if (here() && isSeen(here())) here().scrollIntoView({ block: "nearest" });
  say(namesShown ? "Names are shown." : "Names are hidden.");
}

function showNames() {
  if (!namesShown && !answers.querySelector(":is(.names, .who):not([hidden])")) return;
  for (const group of groups()) {
    const place = group.querySelector(".names");
    place.hidden = !namesShown;
    place.replaceChildren(...(namesShown ? Object.keys(JSON.parse(group.dataset.seen)) : []).map((alias) => {
      const name = document.createElement("bdi");
      name.textContent = names[alias] || "?";
      if (!pages[alias]) return name;
      const link = document.createElement("a");
      link.href = pages[alias];
      link.append(name);
      return link;
    }));
    if (!group.querySelector(".panel").hidden) showNamesIn(group);
  }
}

function showNamesIn(list) {
  for (const place of list.querySelectorAll(".who")) {
    place.hidden = !namesShown;
    place.textContent = namesShown ? names[place.dataset.alias] || "?" : "";
  }
}

function fill(select) {
  draft = select.closest(".group").querySelector(".comment-box").value;
  select.replaceChildren(select.options[0], ...comments.map((text) => new Option(text.slice(0, 80), text)));
}

function chosen(select) {
  select.closest(".group").focus();
  say("The comment stands in the box: give points, or keep it.");
}

// A comment goes on at its end, below the lines of the rubric's items.
function write(group) {
  const box = group.querySelector(".comment-box");
  if (group.dataset.letters && box.value && !box.value.endsWith("\n")) box.value += "\n";
  box.focus();
  box.setSelectionRange(box.value.length, box.value.length);
}

function help() {
  const box = find("help");
  box.hidden = !box.hidden;
  find("help-button").setAttribute("aria-expanded", String(!box.hidden));
  if (!box.hidden) box.scrollIntoView({ block: "nearest" });
}

function give(group) {
  const box = group.querySelector(".other-points");
  const { most } = box.dataset;
  // Half the world writes 1,5: a box for numbers makes 15 of it.
  const points = Number(box.value.trim().replace(",", "."));
  if (!/^[0-9]*[.,]?[0-9]*$/.test(box.value.trim()) || box.value.trim() === "" || !(points <= Number(most))) {
    return say(`From 0 to ${most} points can be given.`, true);
  }
  box.value = "";
  mark(group, points);
}

function digit(group, key) {
  const box = group.querySelector(".other-points");
  if (Number(box.dataset.most) < 10 && key !== ".") {
    if (group.classList.contains("busy") || performance.now() - touched[group.id] < BURST) {
      return say("These answers got a mark just now. Press the key again to give another one.", true);
    }
    if (Number(key) > Number(box.dataset.most)) return say(`${key} points: there are ${box.dataset.most}.`, true);
    return mark(group, Number(key));
  }
  box.focus();
  box.value = key === "." ? "" : key;
}

const KEYS = { j: () => step(1), k: () => step(-1), u: undo, n: toggleNames, "?": help, "/": () => find("find").select(),
  i: () => { find("rubric").open = true; find("new-item")?.focus(); },
  c: () => write(here()), v: () => here().querySelector(".before").focus() };
const isBox = (target) => target.matches("input:not([type=checkbox]), textarea, select");

// What a key does in a box; whether it does anything.
function pressInBox(event) {
  const group = event.target.closest(".group");
  if (event.key === "Escape") {
    if (event.target.matches(".before")) group.querySelector(".comment-box").value = draft;
    if (event.target.matches(".other-points")) event.target.value = "";
    if (event.target.matches(".comment-box")) event.target.value = event.target.value.trimEnd();
    (group || here() || answers).focus();
  }
  else if (event.key === "Enter" && event.target.matches(".before")) chosen(event.target);
  else if (event.key === "Enter" && event.target.matches(".other-points")) give(group);
  else if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && group) mark(group, null);
  else return false;
  return true;
}

// What a key does; whether it does anything.
function press(event) {
  const { key, target } = event;
  if (isBox(target)) return pressInBox(event);
  const group = here();
  if (key === "Escape") {
    if (!group || !hidePanel(group)) return false;
    say("Hidden.");
    return true;
  }
  const isItem = /^[a-z]$/.test(key) && group?.querySelector(`.item[data-letter=${key}]`);
  if (isItem || /^[0-9.,cv-]$/.test(key)) {
    if (!group) say("No answers are in focus: j and k choose some.");
    else if (!isSeen(group)) {
      go(group);
      say("The answers in focus were not on the screen. Now they are: press the key again.");
    } else if (isItem) mark(group, null, key);
    else if (key === "-") differ(group);
    else if (key === ",") part(group);
    else if (KEYS[key]) KEYS[key]();
    else digit(group, key);
  } else if (Object.hasOwn(KEYS, key)) KEYS[key]();
  else {
    // With Caps Lock, on a keyboard of other letters, or for an item that this page does not show.
    if (/^\p{L}$/u.test(key)) say(`${key} does nothing: it is no key, and no item of the rubric on this page.`);
    return false;
  }
  return true;
}

document.addEventListener("keydown", (event) => {
  const box = isBox(event.target);
  if (!box && (event.ctrlKey || event.metaKey || event.altKey || !find("keys").checked)) return;
  if (!box && event.repeat && !"jk".includes(event.key)) return;
  const isButtons = event.target.matches("button, a, summary") && /^( |Enter)$/.test(event.key);
  const isHeld = held && !box && !isButtons && /^(.|Enter|Escape|Backspace)$/.test(event.key);
  if (isHeld) held.push(event.key);
  if (isHeld || press(event)) event.preventDefault();
});

// A page that moves while the button of the mouse is down takes the click away from what it was for.
let byPointer = false;
answers.addEventListener("pointerdown", () => { byPointer = true; });
answers.addEventListener("keydown", () => { byPointer = false; });
answers.addEventListener("focusin", (event) => {
  const group = event.target.closest(".group");
  if (group) go(group, byPointer);
  if (event.target.matches(".before")) fill(event.target);
});
answers.addEventListener("click", (event) => {
  const group = event.target.closest(".group");
  if (!group) return;
  const gives = event.target.matches(".points-button, .give");
  // The first click of a double one has gone on to other answers.
  if (gives && performance.now() - clicked < BURST) return;
  if (gives) clicked = performance.now();
  go(group);
  if (event.target.matches(".points-button")) mark(group, Number(event.target.dataset.points));
  else if (event.target.closest(".item")) mark(group, null, event.target.closest(".item").dataset.letter);
  else if (event.target.matches(".give")) give(group);
  else if (event.target.matches(".keep")) mark(group, null);
  else if (event.target.closest(".differs")) differ(group);
  else if (event.target.closest(".single, .back")) part(group);
  else if (event.target.closest(".out")) takeOut(group, event.target.closest(".out").dataset.alias, true);
});
answers.addEventListener("change", (event) => {
  if (!event.target.matches(".before") || !event.target.value) return;
  event.target.closest(".group").querySelector(".comment-box").value = event.target.value;
  // By arrows one goes on to the next comment: Enter ends it.
  if (byPointer) chosen(event.target);
});
find("rubric").addEventListener("submit", (event) => {
  if (!event.target.querySelector("#new-item")) return;
  event.preventDefault();
  addItem(event.target);
});
find("undo").addEventListener("click", undo);
find("names").addEventListener("click", toggleNames);
find("help-button").addEventListener("click", help);
find("more-button").addEventListener("click", more);
find("keys").checked = localStorage.getItem("desk-keys") !== "off";
find("keys").addEventListener("change", (event) => localStorage.setItem("desk-keys", event.target.checked ? "on" : "off"));
// A draft is lost only if somebody says so.
addEventListener("beforeunload", (event) => {
  if ([...answers.querySelectorAll(".comment-box")].some((box) => box.value !== box.defaultValue)) event.preventDefault();
});
// After a reload what waits comes first: the place of before shows other answers.
history.scrollRestoration = "manual";
// On a small screen what is asked stands above the answers, and would fill it.
if (matchMedia("(max-width: 60rem)").matches) document.querySelectorAll("aside details").forEach((one) => { one.open = false; });
go(groups()[0]);
// The course says that names are shown.
if (answers.dataset.names === "shown") toggleNames();
