// How chats, people and messages are named.

// inPath writes a message's or call's id for a path, as the API does: clients and proxies
// would resolve dots and slashes.
export const inPath = (id: string) => (/^[\w-]+$/.test(id) ? id : `~${Buffer.from(id).toString("base64url")}`);

export const isGroup = (jid: string) => jid.endsWith("@g.us");

// numberJid returns the JID of a number as people write it, and undefined where it is none.
export function numberJid(text: string): string | undefined {
  if (!/^[+\d][\d\s().\-/]*$/.test(text)) return undefined;
  const digits = text.replace(/\D/g, "").replace(/^00/, "");
  return /^[1-9]\d{6,14}$/.test(digits) ? `${digits}@s.whatsapp.net` : undefined;
}

// folded is a name without case and accents, as the bridge compares names.
export const folded = (name: string) => name.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().trim();

// listOf returns the values of a list, of JSON, or of a text with commas or lines.
export function listOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map((v) => String(v).trim()).filter(Boolean);
  const text = String(value ?? "").trim();
  if (text.startsWith("[")) {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list)) return listOf(list);
  }
  return text.split(/[,\n]/).map((v) => v.trim()).filter(Boolean);
}

// peopleOf returns the JIDs of people who are given by JID or number.
export const peopleOf = (value: unknown) => listOf(value).map((who) => numberJid(who) ?? who);
