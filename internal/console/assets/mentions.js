// Mentions: typing @ in a group suggests its members. In the field a mention is a name between two
// invisible characters (U+2068 and U+2069, which isolate its text direction); in the sent text it is
// the member's number.
import { debounced, find } from "./base.js";
import { eachChat } from "./chat.js";
import { announce } from "./pending.js";

let say, box; // elements of the open chat
const chosen = new Map(); // members by name
const most = 6; // suggestions
let members; // a promise
let at = -1; // start of the completed word
let found = [];
let active = 0;

// sent returns the text to send, the text to show, and the mentioned people.
export function sent(written) {
  const jids = new Set();
  const text = written.replace(/@\u2068([^\u2068\u2069]*)\u2069/g, (_, name) => {
    const member = chosen.get(name);
    if (!member) return "@" + name;
    jids.add(member.jid);
    return member.token;
  });
  return { text: bare(text), shown: bare(written), jids: [...jids] };
}

const bare = (text) => text.replace(/[\u2068\u2069]/g, "");

// remember stores a draft with its mentions, and forgets an empty one.
export function remember(name, written) {
  for (const [key, value] of [[name, written], [name + " mentions", written && chosen.size && JSON.stringify([...chosen])]]) {
    try {
      if (value) localStorage.setItem(key, value);
      else localStorage.removeItem(key);
    } catch {
      // Without storage a draft exists as long as the page.
    }
  }
}

export function recalled(name) {
  for (const [key, member] of JSON.parse(localStorage.getItem(name + " mentions") || "[]")) chosen.set(key, member);
  return localStorage.getItem(name) || "";
}

// listed requests the members once; it retries after a failure.
function listed() {
  members ||= fetch(say.dataset.mentions, { headers: { Accept: "application/json" } })
    .then((answer) => (answer.ok ? answer.json() : Promise.reject(answer)))
    .then((answer) => answer.members)
    .catch(() => {
      members = undefined;
      return [];
    });
  return members;
}

// folded removes accents as the bridge does in names.
const folded = (text) => text.normalize("NFD").replace(/([\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Hebrew}\p{sc=Arabic}])\p{Mn}+/gu, "$1").toLowerCase().replaceAll("ß", "ss").replaceAll("ς", "σ");

async function suggest() {
  const area = say.elements.text;
  const before = area.value.slice(0, area.selectionStart);
  const word = /(?:^|[\s(])@([^\s@\u2068\u2069]{0,30}(?: [^\s@\u2068\u2069]{1,20})?)$/.exec(before);
  if (!word) return close();
  at = area.selectionStart - word[1].length - 1;
  const wanted = folded(word[1]);
  const all = await listed();
  if (!area.isConnected || area.value.slice(0, area.selectionStart) !== before) return; // changed meanwhile
  const fits = (member) => folded(member.name).split(/\s+/).some((part) => part.startsWith(wanted)) || folded(member.name).startsWith(wanted) || (wanted.length > 2 && member.token.includes(wanted));
  found = all.filter(fits).slice(0, most);
  active = 0;
  if (!found.length) return close();
  draw();
  announce(found.length === 1 ? "One member" : `${found.length} members`);
}

function draw() {
  box.replaceChildren(...found.map((member, i) => {
    const row = document.createElement("li");
    row.id = "suggestion-" + i;
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", i === active);
    const avatar = Object.assign(document.createElement("span"), { className: `avatar little hue-${member.hue}`, textContent: [...member.name.replace(/[^\p{L}]/gu, "")][0]?.toUpperCase() || "" });
    avatar.setAttribute("aria-hidden", "true");
    const name = document.createElement("bdi");
    name.textContent = member.name;
    row.append(avatar, name);
    if (member.number) row.append(Object.assign(document.createElement("small"), { textContent: member.number }));
    row.addEventListener("pointerdown", (event) => event.preventDefault()); // the field stays focused
    row.addEventListener("click", () => choose(i));
    return row;
  }));
  box.hidden = false;
  say.elements.text.setAttribute("aria-activedescendant", "suggestion-" + active);
}

// close hides the suggestions and reports whether they were open.
export function close() {
  if (!box || box.hidden) return false;
  box.hidden = true;
  found = [];
  say.elements.text.removeAttribute("aria-activedescendant");
  return true;
}

function choose(i) {
  const area = say.elements.text;
  const member = found[i];
  const known = chosen.get(member.name);
  const name = known && known.jid !== member.jid ? `${member.name} ${member.number || ""}`.trim() : member.name;
  chosen.set(name, member);
  area.setRangeText(`@\u2068${name}\u2069 `, at, area.selectionStart, "end");
  close();
  area.focus();
  area.dispatchEvent(new Event("input", { bubbles: true }));
}

function move(by) {
  active = (active + by + found.length) % found.length;
  draw();
}

eachChat(() => {
  say = find("form.say");
  box = find("#mention-list");
  members = undefined;
  found = [];
  chosen.clear();
  if (!say?.dataset.mentions) return;
  const area = say.elements.text;
  const later = debounced(suggest, 60);
  area.setAttribute("aria-autocomplete", "list");
  area.setAttribute("aria-controls", "mention-list");
  area.addEventListener("input", later);
  area.addEventListener("blur", close);
  area.addEventListener("keydown", (event) => {
    if (box.hidden || event.isComposing) return;
    const act = { ArrowDown: () => move(1), ArrowUp: () => move(-1), Enter: () => choose(active), Tab: () => choose(active), Escape: close }[event.key];
    if (!act || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  });
});
