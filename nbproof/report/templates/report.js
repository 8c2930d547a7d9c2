"use strict";
(() => {
  const table = document.getElementById("all"), body = table.tBodies[0];
  const value = (row, at) => {
    const text = row.cells[at].textContent.replace("*", "").trim(), number = parseFloat(text);
    return at === 0 ? text.toLowerCase() : Number.isNaN(number) ? -1 : number;
  };
  [...table.tHead.rows[0].cells].forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...body.rows].sort((a, b) => {
        const x = value(a, at), y = value(b, at);
        return (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1);
      });
      body.append(...rows);
    });
  });
  const closed = [];
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details:not([open])")) { one.open = true; closed.push(one); }
  });
  addEventListener("afterprint", () => { while (closed.length) closed.pop().open = false; });
})();
