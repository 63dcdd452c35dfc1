// Chats and people: chosen from a list, or found by what a person knows of them.
import { NodeOperationError, type ILoadOptionsFunctions, type INodeListSearchResult, type INodePropertyOptions } from "n8n-workflow";
import { answerOf, type Context } from "./api";
import { folded, isGroup, numberJid } from "./ids";

interface Chat {
  jid: string;
  name: string;
}

interface Contact extends Chat {
  phone: string | null;
  username: string | null;
  pushName: string;
  businessName: string;
}

export type Kind = "chat" | "contact" | "group";

const called = (c: Contact) => c.name || c.pushName || c.businessName || c.username || c.phone || c.jid;

// page returns one page of chats, people or groups that match a text.
async function page(context: Context, kind: Kind, q?: string, cursor?: string, limit = 50): Promise<{ found: Chat[]; next?: string }> {
  const qs = { q, cursor, limit, ...(kind === "group" ? { type: "group" } : {}) };
  if (kind === "contact") {
    const { contacts, nextCursor } = await answerOf<{ contacts: Contact[]; nextCursor: string | null }>(context, { path: "/api/contacts", qs });
    return { found: contacts.map((c) => ({ jid: c.jid, name: called(c) })), next: nextCursor ?? undefined };
  }
  const { chats, nextCursor } = await answerOf<{ chats: Chat[]; nextCursor: string | null }>(context, { path: "/api/chats", qs });
  return { found: chats, next: nextCursor ?? undefined };
}

const searching = (kind: Kind) =>
  async function (this: ILoadOptionsFunctions, filter?: string, paginationToken?: string): Promise<INodeListSearchResult> {
    const { found, next } = await page(this, kind, filter, paginationToken);
    return { results: found.map(({ jid, name }) => ({ name: name || jid, value: jid })), paginationToken: next };
  };

export const listSearch = { searchChats: searching("chat"), searchContacts: searching("contact"), searchGroups: searching("group") };

// chatOptions lists the chats to choose some from, the latest first.
export async function chatOptions(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
  const { found } = await page(this, "chat", undefined, undefined, 500);
  return found.map(({ jid, name }) => ({ name: name || jid, value: jid, description: isGroup(jid) ? "Group" : undefined }));
}

// find returns the JID of a chat, person or group that is given by JID, number or name. A
// name must be one's own, but for case and accents: what is sent to a similar one is sent to
// the wrong person.
export async function find(context: Context, kind: Kind, wanted: string, itemIndex: number): Promise<string> {
  const text = wanted.trim();
  const fail = (message: string, description?: string) => new NodeOperationError(context.getNode(), message, { description, itemIndex });
  if (!text) throw fail(`No ${kind} is given`, "Choose one from the list, or give its JID, number or name.");
  if (text.includes("@") && !text.startsWith("@")) return text;
  const number = kind === "group" ? undefined : numberJid(text);
  if (number) return number;

  const similar = new Map<string, string>();
  const found = new Set<string>();
  for (const among of kind === "chat" ? (["chat", "contact"] as const) : [kind]) {
    for (let cursor: string | undefined, more = true; more; ) {
      const { found: listed, next } = await page(context, among, text, cursor, 500);
      for (const { jid, name } of listed) {
        similar.set(jid, name);
        if (folded(name) === folded(text)) found.add(jid);
      }
      cursor = next;
      more = next !== undefined;
    }
    if (found.size) break;
  }
  const [jid] = found;
  if (found.size === 1) return jid;
  const names = [...similar].slice(0, 10).map(([at, name]) => `${name} (${at})`).join(", ");
  throw found.size
    ? fail(`Several have the name "${text}"`, `Give one's JID: ${[...found].join(", ")}`)
    : fail(`No ${kind} has the name "${text}"`, names ? `Similar: ${names}` : "Check the spelling, or give the JID or number.");
}
