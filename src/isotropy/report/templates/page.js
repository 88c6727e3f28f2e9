"use strict";
// Says what a chart's mark stands for when it is pointed at or reached by key, and copies code.
// Without it the page is whole: browsers show titles themselves, and every chart has its table.
(() => {
  const tip = document.getElementById("tip");
  const said = document.getElementById("said");
  const marks = ".chart .mark";
  let pointed = false;

  // Browsers would show titles a second time; names keep them for those who do not see.
  function name(node, role) {
    const title = node.querySelector(":scope > title");
    if (!title) return;
    node.setAttribute("aria-label", title.textContent);
    node.setAttribute("role", role);
    title.remove();
  }

  // A chart is one stop of the Tab key; the arrow keys go from mark to mark inside.
  function prepare(chart) {
    const inside = [...chart.querySelectorAll(".mark")];
    name(chart, inside.length ? "group" : "img");
    inside.forEach((mark, place) => {
      name(mark, "img");
      mark.setAttribute("tabindex", place ? "-1" : "0");
    });
  }

  function show(mark, x, y) {
    tip.textContent = mark.getAttribute("aria-label");
    tip.hidden = false;
    const room = document.documentElement.clientWidth;
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(Math.max(x - width / 2, 8), Math.max(room - width - 8, 8));
    const above = y - height - 12;
    tip.style.left = `${left + scrollX}px`;
    tip.style.top = `${(above < 4 ? y + 18 : above) + scrollY}px`;
  }

  function showBeside(mark) {
    const box = mark.getBoundingClientRect();
    show(mark, box.left + box.width / 2, box.top + Math.min(box.height / 2, 10));
  }

  function hide() {
    tip.hidden = true;
  }

  // What is shown for the key stays when the page moves under a pointer that rests.
  function point(event) {
    const mark = markOf(event);
    if (mark) show(mark, event.clientX, event.clientY);
    else if (pointed) hide();
    pointed = Boolean(mark);
  }

  function markOf(event) {
    return event.target instanceof Element ? event.target.closest(marks) : null;
  }

  function go(mark, key) {
    const all = [...mark.closest(".chart").querySelectorAll(".mark")];
    const here = all.indexOf(mark);
    const places = {
      ArrowRight: here + 1, ArrowDown: here + 1, ArrowLeft: here - 1, ArrowUp: here - 1,
      Home: 0, End: all.length - 1,
    };
    if (!(key in places)) return false;
    const next = all[Math.min(Math.max(places[key], 0), all.length - 1)];
    mark.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
    return true;
  }

  async function copy(button) {
    const code = button.closest(".code").querySelector("code");
    const done = await write(code);
    button.textContent = done ? "Copied" : "Select it yourself";
    said.textContent = done ? "Copied to the clipboard" : "Copying is not allowed here";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  }

  async function write(code) {
    try {
      await navigator.clipboard.writeText(code.textContent);
      return true;
    } catch {
      getSelection().selectAllChildren(code);
      return document.execCommand("copy");
    }
  }

  document.querySelectorAll(".chart").forEach(prepare);
  document.querySelectorAll(".copy").forEach((button) => { button.hidden = false; });
  document.addEventListener("pointermove", point);
  document.addEventListener("pointerdown", point);
  document.addEventListener("focusin", (event) => {
    const mark = markOf(event);
    if (mark) showBeside(mark);
    else hide();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
    const mark = markOf(event);
    if (mark && go(mark, event.key)) event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.matches(".copy")) copy(event.target);
  });
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((part) => { part.open = true; });
  });
})();
