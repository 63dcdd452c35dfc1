// Votes in polls: a click on an option votes, a second one takes the vote back.
import { again, all, ask, find, randomKey, toast } from "./base.js";
import { chat, dressers, newest } from "./chat.js";

// The chosen options of polls whose votes are on their way, by the id of the message.
const wanted = new Map();

const optionsOf = (form) => all("[name=option]", form);

// choose checks the options that the visitor has chosen last in a poll.
function choose(item) {
  const form = find("[data-poll]", item);
  const chosen = form && wanted.get(item.dataset.id)?.chosen;
  if (chosen) for (const box of optionsOf(form)) box.checked = chosen.includes(box.value);
}
dressers.push(choose);

// send sends the votes in a poll one after the other, and only the last choice of several.
async function send(id, path) {
  const vote = wanted.get(id);
  if (vote.sends) return;
  vote.sends = true;
  try {
    while (vote.chosen !== vote.sent) {
      vote.sent = vote.chosen;
      const body = new URLSearchParams({ key: randomKey() });
      for (const name of vote.chosen) body.append("option", name);
      await again(() => ask(path, body));
      await newest([id]);
    }
    wanted.delete(id);
  } catch (failure) {
    toast(failure.message, true);
    wanted.delete(id);
    const form = all(".msg", chat.list).find((one) => one.dataset.id === id)?.querySelector("[data-poll]");
    if (form) for (const box of optionsOf(form)) box.checked = box.defaultChecked;
  }
}

document.addEventListener("submit", (event) => event.target.matches(".poll") && event.preventDefault());

document.addEventListener("change", (event) => {
  const form = event.target.closest("[data-poll]");
  if (!form) return;
  const { dataset: { most } } = form;
  if (most === "1" && event.target.checked) for (const box of optionsOf(form)) box.checked = box === event.target;
  const chosen = optionsOf(form).filter((box) => box.checked).map((box) => box.value);
  if (Number(most) && chosen.length > Number(most)) {
    event.target.checked = false;
    return toast(`You can choose up to ${most} answers.`, true);
  }
  const { id } = form.closest(".msg").dataset;
  wanted.set(id, Object.assign(wanted.get(id) || {}, { chosen }));
  send(id, form.action);
});
