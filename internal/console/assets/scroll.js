// The scroll position of a box has one owner. Home is where the box begins: the newest messages, or the top of
// a list. At home the box stays there when its content changes; elsewhere the first visible row stays where it is.

const moves = ["wheel", "touchmove", "pointerdown", "keydown"]; // what a visitor scrolls with

// keeper returns the owner of a box. rows returns its rows from top to bottom; isHome reports whether the box
// is at home.
export function keeper(box, rows, isHome) {
  let anchor; // the row that stays, its id and its distance from the top edge; undefined at home
  let wanted; // an element that stays in the middle until the visitor scrolls
  const edge = () => box.getBoundingClientRect().top;

  // first returns the first row that reaches into the box.
  function first() {
    const all = rows(), top = edge() + 1;
    let from = 0, to = all.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (all[middle].getBoundingClientRect().bottom > top) to = middle;
      else from = middle + 1;
    }
    return all[from];
  }

  const hold = (row) => (anchor = row && { row, id: row.id, below: row.getBoundingClientRect().top - edge() });
  const note = () => hold(isHome() ? undefined : first());

  function restore() {
    if (wanted?.isConnected) {
      const at = wanted.getBoundingClientRect(), within = box.getBoundingClientRect();
      // The top of what is higher than the box is shown.
      const free = Math.max(0, within.height - at.height) / 2;
      box.scrollTop += at.top - within.top - free;
      return;
    }
    const row = anchor && (anchor.row.isConnected ? anchor.row : anchor.id && document.getElementById(anchor.id));
    if (row) box.scrollTop += row.getBoundingClientRect().top - edge() - anchor.below;
  }

  for (const move of moves) box.addEventListener(move, () => (wanted = undefined), { passive: true });
  box.addEventListener("scroll", () => (wanted ? restore() : note()), { passive: true });
  const sizes = new ResizeObserver((changes) => {
    if (wanted || changes.some(({ target }) => target !== box)) restore();
    note();
  });
  sizes.observe(box);
  for (const part of box.children) sizes.observe(part);

  return {
    // steadily changes the content without moving the visible rows. A row that is given stays, even at home.
    steadily(change, row) {
      if (row) hold(row);
      else if (!wanted) note();
      change();
      restore();
    },
    // show brings an element into the middle, and leaves it there while the content around it still loads.
    show(element) {
      wanted = element;
      restore();
    },
    // reveal brings an element into the box if it is not there.
    reveal(element) {
      wanted = undefined;
      element.scrollIntoView({ block: "nearest" });
    },
    home(behavior = "instant") {
      wanted = anchor = undefined;
      box.scrollTo({ top: 0, behavior });
    },
    // position returns the first visible row and its distance from the top edge; undefined at home.
    position() {
      note();
      return anchor;
    },
    // return brings a row to a distance from the top edge.
    return(row, below) {
      wanted = undefined;
      anchor = { row, id: row.id, below };
      restore();
    },
  };
}
