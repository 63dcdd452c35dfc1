"""Uses the generated client against the demo: use.py address token"""
import sys

import bridged


def main(address: str, token: str) -> None:
    configuration = bridged.Configuration(host=address)
    configuration.access_token = token
    with bridged.ApiClient(configuration) as client:
        reading, sending = bridged.ReadingApi(client), bridged.SendingApi(client)

        status = bridged.AuthApi(client).get_status()
        assert status.status == "open" and status.user.phone, status
        assert status.qr is None and status.last_error is None, status

        chats = reading.list_chats(type="individual").chats
        messages = [m for chat in chats for m in reading.list_individual_messages(chat.jid, limit=50).messages]
        assert any(m.media and m.media.type == "audio" and m.media.ptt for m in messages), "no voice note"
        assert all(m.timestamp.tzinfo and m.deleted_at is None for m in messages), "no times"

        page = bridged.EventsApi(client).list_events(types="message.created", limit=2, after="0")
        first = page.events[0]
        assert first.type == "message.created" and first.message.content, first

        text = bridged.SendText(jid=chats[0].jid, text="Thank you", quoted_msg_id=None)
        sent = sending.send_text(text, idempotency_key="thank-you")
        again = sending.send_text(text, idempotency_key="thank-you")
        assert sent.ok and sent.msg_id == again.msg_id, (sent, again)

        try:
            sending.send_reaction(bridged.React(chat_jid=chats[0].jid, msg_id="3EB0NOSUCH", emoji="👍"))
            raise AssertionError("a message that does not exist was reacted to")
        except bridged.ApiException as refused:
            assert refused.status == 404 and "not_found" in refused.body, refused


main(*sys.argv[1:])
