import { chat, required, text } from "../fields";
import { withAs, type Field, type Resource } from "../operation";

const id: Field = required("Hook ID", "id", "The hook's <code>id</code>");

export const hookResource: Resource = {
  name: "Hook",
  value: "hook",
  operations: [
    {
      name: "Create",
      value: "create",
      action: "Create a hook",
      description: "An address that turns the posts of another service into messages to one chat",
      method: "POST",
      path: "/api/hooks",
      fields: [
        required("Name", "name", "What the hook is for"),
        withAs(chat, "chatJid"),
        required("Template", "template", "<code>gitea</code>, <code>github</code>, <code>alertmanager</code>, <code>grafana</code>, <code>uptime-kuma</code>, <code>json</code>, <code>text</code>, or a template of your own", { default: "json" }),
      ],
      options: [text("Secret", "secret", "What deliveries are signed with", { typeOptions: { password: true } })],
    },
    { name: "Delete", value: "delete", action: "Delete a hook", method: "DELETE", path: "/api/hooks/{id}", fields: [id] },
    { name: "Get Many", value: "getAll", action: "Get all hooks", path: "/api/hooks", list: "hooks" },
  ],
};
