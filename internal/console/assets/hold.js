// A long press opens a menu. The click after it is ignored.

const delay = 450; // ms; browsers open their own menu a little later
let resting, held;

function leave() {
  clearTimeout(resting?.timer);
  resting = undefined;
}

// onHold calls act after a long press in a box, with the result of choose for the pressed element.
export function onHold(box, choose, act) {
  box.addEventListener("pointerdown", (event) => {
    held = false;
    const on = event.pointerType !== "mouse" && event.isPrimary && choose(event.target);
    if (!on) return;
    resting = { x: event.clientX, y: event.clientY, timer: setTimeout(() => {
      held = true;
      act(on);
    }, delay) };
  });
  box.addEventListener("contextmenu", (event) => {
    if (event.pointerType !== "mouse" && choose(event.target) && matchMedia("(pointer: coarse)").matches) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  });
}

for (const type of ["pointerup", "pointercancel"]) addEventListener(type, leave);
addEventListener("pointermove", (event) => {
  if (resting && Math.hypot(event.clientX - resting.x, event.clientY - resting.y) > 10) leave();
});
addEventListener("scroll", leave, { capture: true, passive: true });
addEventListener("click", (event) => {
  if (!held) return;
  held = false;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);
addEventListener("pointerdown", () => (held = false), true);
