package browser

import (
	. "bridged/internal/e2e/harness"
)

// Opens clicks the last of the elements that a selector finds, and waits for what it opens.
func Opens(selector, opened string) Steps {
	return Steps{Becomes(`document.querySelector("` + selector + `")`), Does(`[...document.querySelectorAll("` + selector + `")].at(-1).click()`), Becomes(opened)}
}

// Checks checks a text in the form for exported chats.
func Checks(export string) Steps {
	return Steps{Becomes(`document.readyState === "complete" && document.querySelector("#import")`), Does(`(form => {
		const data = new DataTransfer();
		data.items.add(new File([` + JsString(export) + `], "WhatsApp Chat - Old friends.txt", {type: "text/plain"}));
		form.querySelector("#choose-chat").value = "Old friends";
		form.querySelector("[type=file]").files = data.files;
		form.requestSubmit();
	})(document.querySelector("[data-import]"))`)}
}
