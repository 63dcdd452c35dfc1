// Which events start a workflow, chosen alike in both triggers.
import type { IDataObject, INodeProperties } from "n8n-workflow";
import { isGroup } from "./ids";

export interface Filter {
  types: string[];
  chats: string[];
  chatType: "all" | "group" | "individual";
  // fromMe is undefined for messages of anybody.
  fromMe?: boolean;
}

export interface Event extends IDataObject {
  id: number;
  type: string;
  timestamp: string;
  chatJid: string | null;
  message?: { msgId: string; media: { fileName?: string } | null } & IDataObject;
}

export const filterProperties: INodeProperties[] = [
  {
    displayName: "Events",
    name: "types",
    type: "multiOptions",
    options: [
      { name: "Account Status Changed", value: "account.status" },
      { name: "Call Changed", value: "call.updated", description: "What became of a call" },
      { name: "Call Received", value: "call.created" },
      { name: "Chat Changed", value: "chat.updated", description: "A chat is new, or was read, archived, pinned, muted or renamed" },
      { name: "Group Changed", value: "group.updated", description: "Its details or members changed, or somebody asks to join" },
      { name: "Label Changed", value: "label.updated", description: "It was created, changed or deleted" },
      { name: "Message Changed", value: "message.updated", description: "It was edited or deleted, or somebody reacted or voted" },
      { name: "Message Scheduled", value: "message.scheduled", description: "A message was scheduled, changed or cancelled, or could not be sent at its time" },
      { name: "Message Stored", value: "message.created", description: "A message was received, or sent from any device" },
      { name: "Message's Status Changed", value: "message.status", description: "An own message was sent, delivered, read or played, or failed" },
    ],
    default: ["message.created"],
    required: true,
    description: "What starts the workflow",
  },
  {
    displayName: "Messages",
    name: "messages",
    type: "options",
    options: [
      { name: "Of Anybody", value: "any" },
      { name: "Of Others Only", value: "others" },
      { name: "Own Only", value: "own" },
    ],
    default: "others",
    description: "Whose messages start the workflow. One that answers must start with those of others only, or it answers itself.",
  },
  {
    displayName: "Kind of Chat",
    name: "chatType",
    type: "options",
    options: [
      { name: "Any", value: "all" },
      { name: "Groups", value: "group" },
      { name: "People", value: "individual" },
    ],
    default: "all",
    description: "In which chats. The account's status belongs to no chat, and starts the workflow for any only.",
  },
  {
    displayName: "Chat Names or IDs",
    name: "chats",
    type: "multiOptions",
    typeOptions: { loadOptionsMethod: "getChats" },
    default: [],
    description: 'Only these chats; none chosen is all. Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
  },
];

// filterOf reads the parameters.
export function filterOf(parameter: (name: string) => unknown): Filter {
  const fromMe = { any: undefined, others: false, own: true }[parameter("messages") as "any" | "others" | "own"];
  return { types: parameter("types") as string[], chats: parameter("chats") as string[], chatType: parameter("chatType") as Filter["chatType"], fromMe };
}

// ofKind reports whether an event is in a chat of the kind, for which the log has no filter.
export const ofKind = ({ chatType }: Filter, { chatJid }: Event) => chatType === "all" || (chatJid !== null && isGroup(chatJid) === (chatType === "group"));
