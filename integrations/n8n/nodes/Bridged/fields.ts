// Parameters that several operations have.
import type { INodeProperties, INodePropertyMode, INodePropertyOptions } from "n8n-workflow";
import type { Kind } from "../../shared/lookup";
import { listOf, peopleOf } from "../../shared/ids";
import type { Field } from "./operation";

const mode = (displayName: string, name: string, type: INodePropertyMode["type"], more: Partial<INodePropertyMode>): INodePropertyMode => ({ displayName, name, type, ...more });

// locator is a chat, person or group: from the list, or by JID, number or name.
function locator(kind: Kind, name: string, displayName: string, description: string): Field {
  const list: Record<Kind, string> = { chat: "searchChats", contact: "searchContacts", group: "searchGroups" };
  const sample = kind === "group" ? "120363025246125486@g.us" : "15551234567@s.whatsapp.net";
  const modes = [
    mode("From List", "list", "list", { typeOptions: { searchListMethod: list[kind], searchable: true } }),
    mode("JID", "id", "string", { placeholder: sample }),
    ...(kind === "group" ? [] : [mode("Number", "number", "string", { placeholder: "+1 555 123-4567" })]),
    mode("Name", "name", "string", { placeholder: kind === "group" ? "Readers" : "Grace Hopper" }),
  ];
  return { property: { displayName, name, type: "resourceLocator", default: { mode: "list", value: "" }, required: true, description, modes }, find: kind };
}

export const chat: Field = { ...locator("chat", "chat", "Chat", "The chat, by name, number or JID"), as: "jid" };
export const fromChat: Field = { ...locator("chat", "chat", "Chat", "The chat that the message is in"), as: "sourceChatJid" };
export const toChat: Field = { ...locator("chat", "toChat", "To Chat", "The chat that gets the message"), as: "destJid" };
export const contact: Field = { ...locator("contact", "contact", "Contact", "The person, by name, number or JID"), as: "jid" };
export const group: Field = { ...locator("group", "group", "Group", "The group, by name or JID"), as: "jid" };

const message: INodeProperties = {
  displayName: "Message ID",
  name: "msgId",
  type: "string",
  default: "",
  required: true,
  placeholder: "3EB0A1B2C3D4E5F60718",
  description: "The message's <code>msgId</code>",
};

export const msgId: Field = { property: message };

// text is a parameter of one line, or of some.
export const text = (displayName: string, name: string, description: string, more: Partial<INodeProperties> = {}): Field => ({
  property: { displayName, name, type: "string", default: "", description, ...more },
});

// required is a text that must be given.
export const required = (displayName: string, name: string, description: string, more: Partial<INodeProperties> = {}): Field =>
  text(displayName, name, description, { required: true, ...more });

export const flag = (displayName: string, name: string, description: string): Field => ({
  property: { displayName, name, type: "boolean", default: true, description },
});

// choice is a parameter with the options that are given as values and their names.
export function choice(displayName: string, name: string, description: string, names: Record<string, string>): Field {
  const options: INodePropertyOptions[] = Object.entries(names).map(([value, shown]) => ({ name: shown, value }));
  const [{ value: first }] = options;
  return { property: { displayName, name, type: "options", options, default: first, description } };
}

// people are several persons in one text or list.
export const people = (displayName: string, name: string, description: string, must = false): Field => ({
  ...text(displayName, name, `${description}. JIDs or numbers, separated by commas, or a list.`, { required: must, placeholder: "+1 555 123-4567, 447700900123@s.whatsapp.net" }),
  value: peopleOf,
});

export const list = (displayName: string, name: string, description: string): Field => ({
  ...required(displayName, name, description, { typeOptions: { multipleValues: true, multipleValueButtonText: "Add" }, default: [] }),
  value: listOf,
});

export const time = (displayName: string, name: string, description: string): Field => ({
  property: { displayName, name, type: "dateTime", default: "", description },
  value: (entered) => moment(entered),
});

// moment writes a time of an n8n parameter, which may lack a zone, in RFC 3339.
function moment(entered: unknown): string | undefined {
  const at = typeof entered === "object" && entered !== null ? String(entered) : (entered as string);
  if (!at) return undefined;
  return /^\d{4}-\d\d-\d\d$|(Z|[+-]\d\d:?\d\d)$/.test(at) ? at : new Date(at).toISOString();
}

// later is when a message is sent.
export const later = time("Send At", "sendAt", "When to send it, at most a year ahead. Empty sends it now. The answer has the <code>msgId</code> that it will have.");

// quote is what a message answers.
export const quote: Field[] = [
  text("Quoted Chat JID", "quotedChatJid", "The chat of the quoted message, where it is another one"),
  text("Quoted Message ID", "quotedMsgId", "The <code>msgId</code> of the message that this one answers"),
];

export const either = { true: "Yes", false: "No" };
