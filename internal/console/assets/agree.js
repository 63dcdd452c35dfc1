// Questions before a form is sent.

const agreements = new WeakSet(); // forms whose question was answered with yes

// agreed reports whether the visitor has confirmed a form. The form is sent after the confirmation.
export function agreed(event, question) {
  const { target: form, submitter } = event;
  if (agreements.delete(form)) return true;
  event.preventDefault();
  const dialog = document.createElement("dialog");
  dialog.className = "sheet ask";
  dialog.setAttribute("aria-labelledby", "question");
  const text = Object.assign(document.createElement("p"), { id: "question", textContent: question, dir: "auto" });
  const yes = Object.assign(document.createElement("button"), { type: "button", className: "danger", textContent: submitter?.textContent.trim() || "Yes" });
  const no = Object.assign(document.createElement("button"), { type: "button", textContent: "Cancel", autofocus: true });
  const row = Object.assign(document.createElement("div"), { className: "row" });
  row.append(yes, no);
  dialog.append(text, row);
  document.body.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // Esc only closes the dialog
  dialog.addEventListener("click", (event) => {
    event.stopPropagation();
    const { target } = event;
    if (target === yes) agreements.add(form);
    if (target !== dialog && target !== yes && target !== no) return;
    dialog.close();
    if (target === yes) form.requestSubmit(submitter);
  });
  dialog.showModal(); // the focus returns to the button when it closes
  return false;
}
