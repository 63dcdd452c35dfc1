import { choice, contact, list, text } from "../fields";
import type { Field, Resource } from "../operation";

export const size: Field = choice("Size", "size", "A small picture, or the one that the apps open", { full: "Full", preview: "Preview" });

export const contactResource: Resource = {
  name: "Contact",
  value: "contact",
  operations: [
    { name: "Block", value: "block", action: "Block a contact", method: "POST", path: "/api/contacts/{jid}/block", fields: [contact] },
    {
      name: "Check Numbers",
      value: "check",
      action: "Check which numbers are on WhatsApp",
      description: "Ask the network who has the numbers. At most 200 an hour, because accounts that ask about many get banned.",
      method: "POST",
      path: "/api/contacts/check",
      fields: [list("Numbers", "phones", "Up to 50 numbers with their country codes, in any spelling")],
      list: "results",
    },
    { name: "Get", value: "get", action: "Get a contact", path: "/api/contacts/{jid}", fields: [contact] },
    {
      name: "Get Many",
      value: "getAll",
      action: "Get many contacts",
      path: "/api/contacts",
      options: [text("JIDs", "jid", "Only these people, separated by commas"), text("With Name or Number", "q", "A part of any name, username or number")],
      list: "contacts",
      pages: 500,
    },
    { name: "Get Picture", value: "getPicture", action: "Get the picture of a contact", path: "/api/contacts/{jid}/picture", fields: [contact, size], file: "down" },
    { name: "Unblock", value: "unblock", action: "Unblock a contact", method: "DELETE", path: "/api/contacts/{jid}/block", fields: [contact] },
  ],
};
