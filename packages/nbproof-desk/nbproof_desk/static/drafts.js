// A learner's page: what was typed and not kept is lost only if somebody says so.
"use strict";
let sent = null;
addEventListener("submit", (event) => { sent = event.target; });
addEventListener("input", () => { sent = null; });
addEventListener("beforeunload", (event) => {
  const boxes = [...document.querySelectorAll(".answering :is(textarea, [name=points])")];
  const isDraft = (box) => box.form !== sent && (box.value !== box.defaultValue || box.form.matches(".typed"));
  if (boxes.some(isDraft)) event.preventDefault();
});
