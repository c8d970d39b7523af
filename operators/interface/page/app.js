// Starts the page: the header, the way between views, the connection, signing in and the theme.
import { Api, inWords } from "./api.js";
import { Colours } from "./colours.js";
import { empty, h, morph, refusal, sign } from "./dom.js";
import { JobView } from "./job_view.js";
import { JobsView } from "./jobs_view.js";
import { MapView } from "./map_view.js";
import { MatrixView } from "./matrix_view.js";
import { OverviewView } from "./overview_view.js";
import { QueueView } from "./queue_view.js";
import { addressOf, routeOf, views } from "./routes.js";
import { Store } from "./store.js";
import { TimelineView } from "./timeline_view.js";
import { askForToken } from "./sign_in.js";
import { accountNamespaceIn } from "./token.js";
import { chooseTheme, currentTheme, themes } from "./theme.js";

const classes = { overview: OverviewView, slots: MapView, timeline: TimelineView, queue: QueueView, matrix: MatrixView, jobs: JobsView, job: JobView };

class App {
  api = new Api((...what) => fetch(...what));
  store = new Store(this.api);
  colours = new Colours();
  view = null;
  /** The namespace that was shown without being asked for. */
  guessed = "";
  #top = document.getElementById("top");
  #main = document.getElementById("main");
  #live = document.getElementById("live");
  #said = "";

  start() {
    addEventListener("hashchange", () => this.show(true));
    document.addEventListener("click", (event) => this.#act(event, "do"));
    for (const name of ["input", "change"]) document.addEventListener(name, (event) => this.#act(event, "on"));
    document.addEventListener("submit", (event) => event.preventDefault());
    chooseTheme(currentTheme(), () => this.#repaint());
    this.store.subscribe((changed) => this.#changed(changed));
    setInterval(() => this.#tick(), 1000);
    this.show();
    this.follow();
  }
  get namespace() {
    return this.route.query.namespace ?? "";
  }
  /** Only what one may see, although some kinds are missing then. */
  get partly() {
    return this.route.query.kinds === "allowed";
  }
  follow() {
    this.followed = `${this.namespace} ${this.partly}`;
    this.store.follow(this.namespace, { all: !this.partly });
  }
  /** What every address of the page carries on: which objects are followed. */
  get kept() {
    const { namespace, kinds } = this.route.query;
    return { namespace, kinds };
  }
  now() {
    return Date.now();
  }

  // --- what is looked at ---

  /** `byPerson`: somebody went to another view, and the focus goes along. */
  show(byPerson = false) {
    const before = this.route;
    this.route = this.#keeping(routeOf(location.hash), before);
    if (before && `${this.namespace} ${this.partly}` !== this.followed) this.follow();
    this.#chooseTestbed();
    const same = before && this.view && before.view === this.route.view && before.key === this.route.key && !this.blocked();
    if (!same) this.#open();
    else this.view.moved?.(before);
    this.view?.render();
    this.#header();
    if (!same && byPerson) this.#main.focus({ preventScroll: true });
  }
  /** Links lead to what is looked at; which objects are followed goes on until an address says otherwise. */
  #keeping(route, before) {
    const { namespace, kinds } = before?.query ?? {};
    const kept = Object.fromEntries(Object.entries({ namespace, kinds }).filter(([name, value]) => value && !(name in route.query)));
    if (route.query.namespace === "*") delete route.query.namespace;
    if (route.query.kinds === "*") delete route.query.kinds;
    Object.assign(route.query, kept);
    history.replaceState(null, "", addressOf(route.view, route.key, route.query));
    return route;
  }
  #open() {
    this.view?.stop();
    this.view = null;
    this.#main.replaceChildren();
    this.#main.className = `view-${this.route.view}`;
    if (!this.blocked()) this.view = new classes[this.route.view](this, this.#main);
    else this.#blocked();
  }
  /** Changes the query of the address without a step in the history. */
  set(query) {
    const wanted = { ...this.route.query, ...query };
    history.replaceState(null, "", addressOf(this.route.view, this.route.key, wanted));
    this.route = routeOf(location.hash);
    this.view?.render();
  }
  get testbed() {
    return this.store.objects.testbed.get(this.route.key);
  }
  /** Where none was chosen: the first that has slots, or else the first. */
  #firstTestbed() {
    const { testbed } = this.store.objects;
    const keys = [...testbed.keys()].sort();
    return keys.find((each) => testbed.get(each).counts.total > 0) ?? keys[0] ?? "";
  }
  #chooseTestbed() {
    const { view, key, query } = this.route;
    if (key || !views.find((each) => each.name === view)?.ofTestbed || !this.store.synced) return;
    const first = this.#firstTestbed();
    if (!first) return;
    history.replaceState(null, "", addressOf(view, first, query));
    this.route = routeOf(location.hash);
  }

  // --- what keeps all views from being shown ---

  blocked() {
    const { name } = this.store.connection;
    if (name === "refused") return true;
    if (!this.store.synced) return true;
    if (!views.find((each) => each.name === this.route.view)?.ofTestbed || this.testbed) return false;
    // The queue of a Testbed that does not exist has the Schedulings that wait for it.
    return !(this.route.view === "queue" && this.route.key && [...this.store.objects.scheduling.values()].some((each) => each.testbed === this.route.key));
  }
  #blocked() {
    const { connection, synced } = this.store;
    let tree;
    if (connection.name === "refused") {
      tree = this.#refused(connection.why);
    } else if (!synced && connection.name === "waiting") {
      tree = [refusal(connection.why instanceof Error && connection.why.problem ? inWords(connection.why, "what this page shows") : inWords({ problem: { status: 0, faults: [] } }, ""))];
    } else if (!synced) {
      tree = [h("div", { class: "empty" }, h("h2", null, "Reading the objects"), h("p", null, "The first snapshot of testbeds, jobs and schedulings is on its way."))];
    } else if (this.route.key) {
      tree = [empty(`There is no Testbed ${this.route.key}`, "It was deleted, or its name is another one. The list above has those that you may see.", "kubectl get testbeds -A")];
    } else {
      tree = [
        empty("There is no Testbed yet", "A Testbed cuts labelled nodes into numbered slots. It appears here as soon as it exists.", "kubectl apply -f examples/testbeds/scheduler-slots.yaml", "kubectl label node NODE tuberlin.de/scheduler-slots=0"),
      ];
    }
    morph(this.#main, tree);
  }
  #refused(why) {
    if (why.status === 401 && !this.api.signedIn) {
      return [refusal({ title: "Sign in to see Testbeds, jobs and Schedulings", text: "This page shows what your account may read. The interface asks for a bearer token, which stays in the memory of this tab.", signIn: true }, true)];
    }
    const ns = this.namespace;
    const words = inWords(why, ns ? `the testbeds, jobs and schedulings of namespace ${ns}` : "the testbeds, jobs and schedulings of all namespaces");
    if (why.status !== 403) return [refusal(words)];
    // Nobody asked for all namespaces, nor for the one that was guessed: what helps is to name another one.
    const calm = !ns || ns === this.guessed;
    if (calm) {
      words.title = ns ? `Your account may not see all of namespace ${ns}` : "Which namespace do you want to see?";
      words.remedy = "Name a namespace in which your account has this right. Whoever runs the cluster gives it by a RoleBinding in that namespace.";
    }
    return [refusal(words, calm), this.#chooseNamespace(), this.partly ? null : this.#chooseKinds()];
  }
  #chooseKinds() {
    return h("p", { class: "card" }, "An account with rights to some of the kinds only: ", h("button", { type: "button", "data-do": "allowed" }, "Show only what I may see"));
  }
  #chooseNamespace() {
    return h("form", { class: "card", "data-do": "" }, h("label", { for: "namespace" }, "Show one namespace only"), h("div", { class: "row" }, h("input", { id: "namespace", name: "namespace", value: this.namespace || this.#accountNamespace(), placeholder: "a namespace", autocomplete: "off", spellcheck: "false" }), h("button", { type: "submit", class: "primary", "data-do": "namespace" }, "Show")));
  }
  /** Of the service account who looks: by its token; where a proxy has it, by the words of the refusal. */
  #accountNamespace() {
    return this.api.namespace || accountNamespaceIn(this.store.connection.why?.problem?.detail ?? "");
  }
  /** An account without a right in all namespaces mostly has it in its own: once for each token, that is what is shown then. */
  #tryOwnNamespace() {
    const { name, why } = this.store.connection;
    if (name !== "refused" || why.status !== 403 || this.namespace || this.guessed) return false;
    this.guessed = this.#accountNamespace();
    if (!this.guessed) return false;
    this.set({ namespace: this.guessed });
    this.follow();
    return true;
  }

  // --- changes ---

  #changed(changed) {
    if (changed.has("connection") && this.#tryOwnNamespace()) return;
    if (changed.has("connection")) this.#tell();
    if (changed.has("job")) this.#knowJobs();
    const blocked = this.blocked();
    if (blocked) {
      this.#chooseTestbed();
      if (this.blocked()) {
        if (this.view) this.#open();
        else this.#blocked();
      } else {
        this.show();
      }
    } else if (!this.view) {
      this.show();
    } else {
      this.view.changed(changed);
    }
    if (changed.has("connection") || changed.has("testbed")) this.#header();
  }
  #knowJobs() {
    const { job } = this.store.objects;
    if (job.size === this.known) return;
    this.known = job.size;
    this.colours.know([...job.values()].sort((a, b) => a.created - b.created || (a.key < b.key ? -1 : 1)).map((each) => each.key));
  }
  #tick() {
    if (this.store.connection.name === "waiting") this.#header();
    this.view?.tick?.();
  }
  #repaint() {
    this.colours.reread();
    this.view?.repaint?.();
    if (this.route) this.#header();
  }

  // --- the header ---

  #header() {
    const { objects } = this.store;
    const testbeds = [...objects.testbed.keys()].sort();
    const { view, key } = this.route;
    if (objects.testbed.has(key)) this.last = key;
    const chosen = objects.testbed.has(this.last) ? this.last : this.#firstTestbed();
    const tab = (each) => h("a", { href: addressOf(each.name, each.ofTestbed ? chosen : "", this.kept), "aria-current": each.name === view || (view === "job" && each.name === "jobs") ? "page" : null }, each.title);
    const theme = currentTheme();
    morph(this.#top, [
      h("a", { class: "brand", href: addressOf("overview", "", this.kept), "aria-label": "ESI, overview" }, h("span", { class: "mark", "aria-hidden": "true" }, h("i"), h("i"), h("i"), h("i")), h("b", null, "ESI")),
      h("div", { class: "picker" }, h("label", { for: "testbed", class: "heard" }, "Testbed"), h("select", { id: "testbed", "data-on": "testbed", disabled: testbeds.length === 0 }, testbeds.length === 0 ? h("option", null, "no Testbed") : testbeds.map((each) => h("option", { value: each, selected: each === chosen }, each)))),
      h("nav", { "aria-label": "Views" }, views.map(tab)),
      h("div", { class: "corner" }, this.namespace ? h("button", { type: "button", class: "pill", "data-do": "all-namespaces", title: "Show all namespaces again" }, `Only ${this.namespace}`, h("span", { class: "heard" }, ": show all namespaces"), sign(" ✕")) : null, this.#pill(), h("button", { type: "button", class: "quiet icon", "data-do": "theme", "aria-label": `Theme: ${themes[theme].word}. Change`, title: `Theme: ${themes[theme].word}` }, themes[theme].sign), this.api.signedIn ? h("button", { type: "button", class: "quiet", "data-do": "sign-out" }, "Sign out") : h("button", { type: "button", class: "quiet", "data-do": "sign-in" }, "Sign in")),
    ]);
    document.title = objects.testbed.has(key) ? `${key} · ESI` : "ESI";
  }
  #pill() {
    const { tone, text, mark } = this.#connection();
    const retries = ["waiting", "refused"].includes(this.store.connection.name);
    return retries
      ? h("button", { type: "button", class: `pill ${tone}`, "data-do": "retry", id: "connection" }, sign(mark), text, h("span", { class: "heard" }, " Try now"))
      : h("span", { class: `pill ${tone}`, id: "connection" }, sign(mark), text);
  }
  #connection() {
    const { name, until, why } = this.store.connection;
    if (name === "live") return this.partly ? { tone: "reserved", text: "Live, in part", mark: "◐" } : { tone: "good", text: "Live", mark: "●" };
    if (name === "connecting") return { tone: "reserved", text: "Connecting", mark: "◌" };
    if (name === "filling") return { tone: "reserved", text: "Reading", mark: "◔" };
    if (name === "waiting") return { tone: "reserved", text: `Again in ${Math.max(0, Math.ceil((until - Date.now()) / 1000))} s`, mark: "↻" };
    if (name === "refused" && why.status === 401) return this.api.signedIn ? { tone: "bad", text: "Token refused", mark: "✕" } : { tone: "muted", text: "Not signed in", mark: "○" };
    if (name === "refused") return { tone: "reserved", text: "Not allowed", mark: "▲" };
    return { tone: "muted", text: "Stopped", mark: "◌" };
  }
  /** Only what matters to those who listen, and once. */
  #tell() {
    const { name, why } = this.store.connection;
    if (name === "refused" && why.status === 401) this.#ask();
    const text = { live: "Live: changes are shown as they happen.", waiting: "The connection is lost. It is tried again.", refused: why?.status === 401 && !this.api.signedIn ? "Sign in to see the objects." : "The server refused." }[name] ?? this.#said;
    if (text !== this.#said) this.announce(text);
    this.#said = text;
  }
  announce(text) {
    if (this.#live.textContent !== text) this.#live.textContent = text;
  }

  // --- what people do ---

  #ask() {
    askForToken((token) => {
      this.api.signIn(token);
      if (this.guessed && this.namespace === this.guessed) this.set({ namespace: "" });
      this.guessed = "";
      this.follow();
    });
  }
  #act(event, attribute) {
    const element = event.target.closest?.(`[data-${attribute}]`);
    const name = element?.dataset[attribute];
    if (!name) return;
    const own = this.view?.actions[name];
    if (own) own(element, event);
    else this.#actions[name]?.(element, event);
  }
  #actions = {
    skip: () => this.#main.focus(),
    retry: () => this.store.stream.retry(),
    "sign-in": () => this.#ask(),
    "sign-out": () => {
      this.api.signOut();
      this.follow();
    },
    theme: () => {
      const names = Object.keys(themes);
      chooseTheme(names[(names.indexOf(currentTheme()) + 1) % names.length], () => this.#repaint());
    },
    testbed: (element) => {
      const view = views.find((each) => each.name === this.route.view && each.ofTestbed)?.name ?? "slots";
      location.hash = addressOf(view, element.value, this.kept);
    },
    namespace: () => {
      const value = document.getElementById("namespace").value.trim();
      location.hash = addressOf(this.route.view, "", { namespace: value, kinds: "*" });
    },
    "all-namespaces": () => {
      location.hash = addressOf(this.route.view, "", { namespace: "*" });
    },
    allowed: () => {
      const { query } = this.route;
      location.hash = addressOf(this.route.view, this.route.key, { ...query, kinds: "allowed", namespace: this.namespace === this.guessed ? "*" : this.namespace });
    },
    copy: async (element) => {
      const text = element.dataset.text;
      try {
        await navigator.clipboard.writeText(text);
        this.announce("Copied.");
        element.textContent = "Copied";
      } catch {
        // Without a clipboard, as on plain HTTP from afar, the text is selected for the keyboard.
        getSelection().selectAllChildren(element.previousElementSibling);
      }
    },
  };
}

new App().start();
