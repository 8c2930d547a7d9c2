// The question's page: keys and buttons, and what the server says to them. No text of a learner's is read or written here.
"use strict";
const answers = document.getElementById("answers");
const order = answers.dataset.order.split(",").filter(Boolean);
const status = document.getElementById("said");
const find = (name) => document.getElementById(name);
let comments = JSON.parse(answers.dataset.comments);
let names = null;
let namesShown = false;
let loading = null;
let queue = Promise.resolve();

const groups = () => [...answers.querySelectorAll(".group")];
const here = () => answers.querySelector(".group.here");

function say(text, wrong) {
  status.textContent = "";
  status.classList.toggle("wrong", Boolean(wrong));
  // A reader of the screen tells a text that is new, also if it is the same one.
  setTimeout(() => { status.textContent = text; }, 10);
}

function go(group) {
  if (!group) return;
  const before = here();
  if (before && before !== group) {
    before.classList.remove("here");
    before.removeAttribute("aria-current");
  }
  group.classList.add("here");
  group.setAttribute("aria-current", "true");
  if (!group.contains(document.activeElement)) group.focus({ preventScroll: true });
  group.scrollIntoView({ block: "nearest" });
  const left = groups().length - groups().indexOf(group);
  if (left < 15) more();
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
  if (loading || groups().length >= order.length) return loading;
  const at = groups().length;
  loading = ask("part?ids=" + order.slice(at, at + 40).join(",")).then((told) => {
    loading = null;
    if (!told.ok) return say(told.said, true);
    answers.insertAdjacentHTML("beforeend", told.groups.join(""));
    // An answer that is not there any more leaves a gap in the order.
    if (!told.groups.length) order.length = at;
    find("more").hidden = groups().length >= order.length;
    showNames();
  }).catch(() => { loading = null; say("The desk does not answer: does its command still run?", true); });
  return loading;
}

async function step(by) {
  const all = groups();
  const at = all.indexOf(here());
  if (by > 0 && at === all.length - 1 && more()) await more();
  go(groups()[Math.max(0, at + by)]);
}

async function toWhatWaits(group) {
  for (let at = groups().indexOf(group) + 1; ; at++) {
    if (at >= groups().length && more()) await more();
    const next = groups()[at];
    if (!next) return go(group);
    if (Number(next.dataset.waiting)) return go(next);
  }
}

// One after another: the second key of two quick ones sees what the first has done.
function send(path, body, then) {
  queue = queue.then(async () => {
    try {
      const told = await ask(path, body());
      for (const [id, html] of Object.entries(told.groups || {})) {
        const old = find("g-" + id);
        if (!old) continue;
        const isHere = old === here();
        const holds = old.contains(document.activeElement);
        find("waiting").textContent -= old.dataset.waiting;
        old.outerHTML = html;
        find("waiting").textContent = Number(find("waiting").textContent) + Number(find("g-" + id).dataset.waiting);
        if (isHere) find("g-" + id).classList.add("here");
        if (isHere && holds) find("g-" + id).focus({ preventScroll: true });
      }
      showNames();
      then(told);
    } catch (error) {
      say("Not kept: the desk does not answer. Does its command still run?", true);
    }
  });
}

function mark(group, points, letter) {
  const id = group.id;
  const box = group.querySelector(".comment-box");
  const comment = box.value === box.defaultValue ? null : box.value;
  if (points === null && !letter && comment === null) return say("There is no new comment.");
  const what = points === null ? "Comment kept" : `${points} ${points === 1 ? "point" : "points"}${comment ? ", with a comment" : ""}`;
  const toggled = () => {
    const before = find(id).dataset.letters;
    return before.includes(letter) ? before.replace(letter, "") : before + letter;
  };
  const body = () => ({ answers: JSON.parse(find(id).dataset.seen), points, comment, letters: letter ? toggled() : null });
  send("mark", body, (told) => {
    if (!told.ok) {
      // What was typed is not lost.
      if (comment !== null) find(id).querySelector(".comment-box").value = comment;
      say(told.said, true);
      return go(find(id));
    }
    if (comment && !comments.includes(comment)) comments.unshift(comment);
    say(`${letter ? find(id).querySelector(".chip").textContent : what}. ${find("waiting").textContent} wait.`);
    if (points !== null && here() === find(id)) toWhatWaits(find(id));
  });
}

function undo() {
  send("undo", () => ({}), (told) => {
    const ids = Object.keys(told.groups || {});
    if (told.reload) return location.reload();
    say(told.said === "undone" ? `Undone. ${find("waiting").textContent} wait.` : told.said, !told.ok);
    if (ids.length) go(find("g-" + ids[0]));
  });
}

async function toggleNames() {
  namesShown = !namesShown;
  if (namesShown) {
    const told = await ask("names");
    names = told.names || {};
  }
  find("names").setAttribute("aria-pressed", String(namesShown));
  showNames();
  say(namesShown ? "Names are shown." : "Names are hidden.");
}

function showNames() {
  for (const group of groups()) {
    const place = group.querySelector(".names");
    place.hidden = !namesShown;
    place.replaceChildren(...(namesShown ? Object.keys(JSON.parse(group.dataset.seen)) : []).map((alias) => {
      const name = document.createElement("bdi");
      name.textContent = names[alias] || "?";
      return name;
    }));
  }
}

function fill(select) {
  select.replaceChildren(select.options[0], ...comments.map((text) => new Option(text.slice(0, 80), text)));
}

function help() {
  const box = find("help");
  box.hidden = !box.hidden;
  find("help-button").setAttribute("aria-expanded", String(!box.hidden));
  if (!box.hidden) box.scrollIntoView({ block: "nearest" });
}

function give(group) {
  const box = group.querySelector(".other-points");
  if (box.value === "" || !box.checkValidity()) return say(`From 0 to ${box.max} points can be given.`, true);
  mark(group, Number(box.value));
}

function digit(group, key) {
  const box = group.querySelector(".other-points");
  if (Number(box.max) < 10 && key !== ".") {
    if (Number(key) > Number(box.max)) return say(`${key} points: there are ${box.max}.`, true);
    return mark(group, Number(key));
  }
  box.focus();
  box.value = key === "." ? "" : key;
}

const KEYS = { j: () => step(1), k: () => step(-1), u: undo, n: toggleNames, "?": help, "/": () => find("find").focus(),
  i: () => { find("new-item").closest("details").open = true; find("new-item").focus(); },
  c: () => here().querySelector(".comment-box").focus(), v: () => here().querySelector(".before").focus() };

document.addEventListener("keydown", (event) => {
  const group = event.target.closest(".group");
  const typing = event.target.matches("input:not([type=checkbox]), textarea, select");
  if (typing) {
    if (event.key === "Escape") (group || here() || answers).focus();
    else if (event.key === "Enter" && event.target.matches(".other-points")) give(group);
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && group) mark(group, null);
    else return;
    event.preventDefault();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || !find("keys").checked || event.repeat && !"jk".includes(event.key)) return;
  if (/^[0-9.]$/.test(event.key) && here()) digit(here(), event.key);
  else if (/^[a-z]$/.test(event.key) && here()?.querySelector(`.item[data-letter=${event.key}]`)) mark(here(), null, event.key);
  else if (Object.hasOwn(KEYS, event.key) && (here() || !"cv".includes(event.key))) KEYS[event.key]();
  else return;
  event.preventDefault();
});

answers.addEventListener("focusin", (event) => {
  const group = event.target.closest(".group");
  if (group) go(group);
  if (event.target.matches(".before")) fill(event.target);
});
answers.addEventListener("click", (event) => {
  const group = event.target.closest(".group");
  if (!group) return;
  go(group);
  if (event.target.matches(".points-button")) mark(group, Number(event.target.dataset.points));
  else if (event.target.closest(".item")) mark(group, null, event.target.closest(".item").dataset.letter);
  else if (event.target.matches(".give")) give(group);
  else if (event.target.matches(".keep")) mark(group, null);
});
answers.addEventListener("change", (event) => {
  if (!event.target.matches(".before") || !event.target.value) return;
  const group = event.target.closest(".group");
  group.querySelector(".comment-box").value = event.target.value;
  event.target.selectedIndex = 0;
  group.focus();
  say("The comment stands in the box: give points, or keep it.");
});
find("undo").addEventListener("click", undo);
find("names").addEventListener("click", toggleNames);
find("help-button").addEventListener("click", help);
find("more-button").addEventListener("click", more);
// On a small screen what is asked stands above the answers, and would fill it.
if (matchMedia("(max-width: 60rem)").matches) document.querySelectorAll("aside details").forEach((one) => { one.open = false; });
go(groups()[0]);
