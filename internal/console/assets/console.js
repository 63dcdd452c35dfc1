// Makes the pages live and quicker to use. Each of them can be used without.
import "./live.js";
import "./forms.js";
import "./chat.js";
import "./menu.js";
import "./voice.js";
import "./lightbox.js";
import "./gallery.js";
import "./composer.js";
import "./files.js";
import "./record.js";
import "./keys.js";
import "./events.js";
import "./chooser.js";
import "./pictures.js";
import "./people.js";
