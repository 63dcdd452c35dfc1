// Long presses on touch screens, which open menus. The click that follows one is ignored.

const delay = 450; // ms; browsers open their own menu a little later
let press; // the press that is under way: its position and timer
let wasHeld; // whether the last press was long

function cancel() {
  clearTimeout(press?.timer);
  press = undefined;
}

// onHold calls act after a long press in a box, with what choose returns for the pressed element. If choose returns
// nothing, the press is an ordinary one.
export function onHold(box, choose, act) {
  box.addEventListener("pointerdown", (event) => {
    wasHeld = false;
    const chosen = event.pointerType !== "mouse" && event.isPrimary && choose(event.target);
    if (!chosen) return;
    press = { x: event.clientX, y: event.clientY, timer: setTimeout(() => {
      wasHeld = true;
      act(chosen);
    }, delay) };
  });
  box.addEventListener("contextmenu", (event) => {
    if (event.pointerType !== "mouse" && choose(event.target) && matchMedia("(pointer: coarse)").matches) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  });
}

for (const type of ["pointerup", "pointercancel"]) addEventListener(type, cancel);
addEventListener("pointermove", (event) => {
  if (press && Math.hypot(event.clientX - press.x, event.clientY - press.y) > 10) cancel();
});
addEventListener("scroll", cancel, { capture: true, passive: true });
addEventListener("click", (event) => {
  if (!wasHeld) return;
  wasHeld = false;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);
addEventListener("pointerdown", () => (wasHeld = false), true);
