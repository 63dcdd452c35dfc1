-- +goose Up

-- What a webhook wants, beside types: only these chats and never those (JSON
-- lists, empty for all and none), one kind of chat (all, group, individual), and
-- own messages or those of others (NULL for both).
ALTER TABLE webhooks ADD COLUMN chats TEXT NOT NULL DEFAULT '[]';
ALTER TABLE webhooks ADD COLUMN exclude_chats TEXT NOT NULL DEFAULT '[]';
ALTER TABLE webhooks ADD COLUMN chat_type TEXT NOT NULL DEFAULT 'all';
ALTER TABLE webhooks ADD COLUMN from_me INTEGER;

UPDATE webhooks SET chats = json_array(chat) WHERE chat != '';
ALTER TABLE webhooks DROP COLUMN chat;
