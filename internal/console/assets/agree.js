// Questions before a form is sent.

const agreements = new WeakSet(); // forms whose question was answered with yes

// dialogOf returns a dialog with a text and other elements, and a function that adds a button. The dialog is removed
// when it closes.
export function dialogOf(text, ...parts) {
  const dialog = document.createElement("dialog");
  dialog.className = "sheet ask";
  dialog.setAttribute("aria-labelledby", "question");
  const row = Object.assign(document.createElement("div"), { className: "row" });
  dialog.append(Object.assign(document.createElement("p"), { id: "question", textContent: text, dir: "auto" }), ...parts, row);
  document.body.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // Esc only closes the dialog
  const button = (textContent, more) => {
    const made = Object.assign(document.createElement("button"), { type: "button", textContent, ...more });
    row.append(made);
    return made;
  };
  return { dialog, button };
}

// asks asks a question, and returns whether it was answered with the button that has a word.
export function asks(question, word, className = "danger") {
  const { dialog, button } = dialogOf(question);
  const yes = button(word, { className });
  const no = button("Cancel", { autofocus: true });
  return new Promise((resolve) => {
    dialog.addEventListener("click", (event) => {
      event.stopPropagation();
      if (event.target !== dialog && event.target !== yes && event.target !== no) return;
      dialog.close();
      resolve(event.target === yes);
    });
    dialog.addEventListener("cancel", () => resolve(false));
    dialog.showModal(); // the focus returns to the button when it closes
  });
}

// agreed reports whether the visitor has confirmed a form. The form is sent after the confirmation.
export function agreed(event, question) {
  const { target: form, submitter } = event;
  if (agreements.delete(form)) return true;
  event.preventDefault();
  asks(question, submitter?.textContent.trim() || "Yes").then((yes) => {
    if (!yes) return;
    agreements.add(form);
    form.requestSubmit(submitter);
  });
  return false;
}
