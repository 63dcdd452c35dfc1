// Messages of businesses, and answers to them, in forms that Baileys has no
// methods for. Anyone can send them.
const button = (buttonId, displayText) => ({ buttonId, buttonText: { displayText }, type: 1 });
const row = (rowId, title) => ({ rowId, title, description: "" });

export const business = {
  buttons: {
    content: { buttonsMessage: { contentText: "Shall we deliver?", footerText: "The shop", headerType: 1, buttons: [button("y", "Yes"), button("n", "No")] } },
    wanted: { texts: ["Shall we deliver?"], buttons: ["Yes", "No"] },
  },
  "answer to buttons": {
    content: { buttonsResponseMessage: { selectedButtonId: "y", selectedDisplayText: "Yes", type: 1 } },
    wanted: { texts: ["Yes"], selected: { id: "y", text: "Yes" } },
  },
  list: {
    content: { listMessage: { title: "Menu", description: "What will it be?", buttonText: "Choose", listType: 1, sections: [{ title: "Hot", rows: [row("t", "Tea"), row("c", "Coffee")] }] } },
    wanted: { texts: ["What will it be?"], buttons: ["Tea", "Coffee"] },
  },
  "answer to a list": {
    content: { listResponseMessage: { title: "Tea", listType: 1, singleSelectReply: { selectedRowId: "t" } } },
    wanted: { texts: ["Tea"], selected: { id: "t", text: "Tea" } },
  },
  template: {
    content: { templateMessage: { hydratedTemplate: { templateId: "1", hydratedContentText: "Your parcel is on its way", hydratedFooterText: "The courier", hydratedButtons: [{ index: 0, urlButton: { displayText: "Track", url: "https://example.com/t/1" } }] } } },
    wanted: { texts: ["Your parcel is on its way"], buttons: ["Track"] },
  },
  "answer to a template": {
    content: { templateButtonReplyMessage: { selectedId: "later", selectedDisplayText: "Later", selectedIndex: 1 } },
    wanted: { texts: ["Later"], selected: { id: "later", text: "Later" } },
  },
  "interactive message": {
    content: { interactiveMessage: { body: { text: "Rate us" }, footer: { text: "The shop" }, nativeFlowMessage: { buttons: [{ name: "quick_reply", buttonParamsJson: JSON.stringify({ display_text: "Good", id: "5" }) }] } } },
    wanted: { texts: ["Rate us"], buttons: ["Good"] },
  },
};
