/** Where each statement on plugins is shown. */
import { type StatementRow, statement } from "./Statement.ts"

const sdk = "test/http/plugins/sdk.test.ts"
const life = "test/http/plugins/lifecycle.test.ts"
const lifecycle = "test/http/plugins/plugins.test.ts"
const endpoints = "test/http/plugins/endpoints.test.ts"
const samples = "test/http/plugins/samples.test.ts"
const running = "test/unit/plugins/registry/Running.test.ts"
const stopping = "test/http/plugins/stopping.test.ts"
const events = "test/http/inference/plugins/events.test.ts"
const requests = "test/http/inference/plugins/requests.test.ts"
const answers = "test/http/inference/plugins/answers.test.ts"
const official = "test/sdk/plugins.test.ts"
const commands = "test/cli/plugins.test.ts"
const killed = "test/faults/plugins/killed.test.ts"
const kills = "test/faults/program/plugins.slow.test.ts"
const manifest = "test/unit/plugins/manifest/Manifest.test.ts"
const settings = "test/unit/plugins/config/ConfigRules.test.ts"
const hooks = "test/unit/plugins/hooks/Hooks.test.ts"
const globals = "test/unit/plugins/sandbox/Globals.test.ts"
const results = "test/unit/plugins/sandbox/Results.test.ts"
const escape = "test/unit/plugins/sandbox/Escape.test.ts"
const runaways = "test/unit/plugins/sandbox/Runaways.test.ts"
const engine = "test/unit/plugins/sandbox/Engine.test.ts"
const calls = "test/unit/plugins/sandbox/Calls.test.ts"
const selector = "test/unit/plugins/sandbox/Selector.test.ts"
const files = "test/unit/plugins/sandbox/host/Files.test.ts"
const network = "test/unit/plugins/sandbox/host/Network.test.ts"
const exec = "test/unit/plugins/sandbox/host/Exec.test.ts"
const folder = "test/unit/plugins/files/PluginFolder.test.ts"
const marketplace = "test/faults/plugins/marketplace.test.ts"
const hanging = "test/unit/plugins/Marketplace.test.ts"
const texts = "test/unit/plugins/files/PluginFiles.test.ts"

const matrix = [globals, 'with ${set.length === 0 ? "no permission" : set.join(", ")}'] as const

export const pluginRows: ReadonlyArray<StatementRow> = [
  statement(
    "A name is required, in small letters, digits and dashes",
    [manifest, "refuses %s, and names the field"],
    [runaways, "is not loaded when it loops, throws or waits while it is loaded"]
  ),
  statement("Lower priorities run first; 100 where neither the manifest nor the definition names one", [
    sdk,
    "orders by the manifest's priority, else its own, else 100, then by name; lower ones first"
  ]),
  statement("`enabled: false` calls no function, in the definition and at a hook of the manifest; without it all are", [
    sdk,
    "is not called where it or its hook is not enabled"
  ]),
  statement(
    "`onRequest` is called before the request is handled, each plugin after the other, and sees what the one before left",
    [requests, "comes in its turn, and sees what the one before has left"],
    [hooks, "gives the same bytes where nobody changes them", "ends at the first block"]
  ),
  statement(
    "`onResponse` is called when the answer is there, and may change it",
    [answers, "${wire}: is changed before it is sent", "passes all of those that change it, each after the other"],
    [official, "are read by the SDKs of five wires, whole and held back; from a ${upstreamWire} upstream"]
  ),
  statement("`onError` is called where a request ends as an error", [
    events,
    "${name}: those of a failure",
    "an unknown model, and a used-up quota of the provider"
  ]),
  statement(
    "`blockRequest` ends a request, by itself or with an answer: an error, a status, a body, headers",
    [sdk, "blockRequest ends the request, with or without an answer of its own"],
    [
      requests,
      "${name}: says so in the client's wire",
      "${name}: may answer in its place",
      "chooses status, error and harmless headers",
      "never makes a success of what is no answer"
    ]
  ),
  statement(
    "`modifyBody` puts another body in the place of the request's, before a provider is asked, with the rights of the key",
    [sdk, "modifyBody, addMetadata and both at once do what they say"],
    [
      requests,
      "${wire}: may choose another model, also where the path names it",
      "does not get past the rights of the key",
      "cannot make it a request that is wrong, or sent in another way"
    ],
    [endpoints, "what is searched for, as the client writes it, and not who is asked"]
  ),
  statement(
    "`addMetadata` adds to the context, for all hooks of the request and its decision record",
    [requests, "may add metadata, which the next ones see and the record keeps"],
    [hooks, "are the first members that fit into 4 KB"]
  ),
  statement(
    "The context has the id, model, provider, body, headers, metadata and time of the request; the metadata may be changed in place",
    [sdk, "gives functions the seven fields of the request, its configuration and what else is known"],
    [hooks, "see the context of the request, without its credentials"],
    [results, "is an answer, a body or nothing, with the metadata of both ways"]
  ),
  statement(
    "The manifest names name, version, description, author, main, hooks, permissions, `enabledByDefault` and `configSchema`",
    [manifest, "fills in defaults", "refuses %s, and names the field"],
    [lifecycle, "what is wrong is 400 with its field, and nothing is installed"]
  ),
  statement(
    "A hook of the manifest is a boolean, or an object with `enabled` and `priority`; one without a function is refused, a function without a hook warned of",
    [sdk, "is not called where it or its hook is not enabled"],
    [
      lifecycle,
      "what is wrong is 400 with its field, and nothing is installed",
      "warns of a function that the manifest has not, and starts what may start by itself"
    ]
  ),
  statement("`enabledByDefault` activates what asks for no permission", [
    lifecycle,
    "warns of a function that the manifest has not, and starts what may start by itself"
  ]),
  statement(
    "Settings are strings, numbers, booleans or one of a list, with default, least, most, choices and description",
    [manifest, "refuses %s, and names the field"],
    [settings, "defaults hold where nothing is set", "a wrong value of %s is named"]
  ),
  statement(
    "Settings are stored, changed by one route that has all that a form needs, and in force from the next call; secrets are masked",
    [lifecycle, "settings are checked by field, hot, and secrets masked"],
    [
      settings,
      "null is the default again, what is left out stays, and a masked secret is the one of before",
      "of a former version those stay that the schema still takes"
    ]
  ),
  statement(
    "All of the events of a request are told of on every wire, whole and streamed, with payloads of the published form",
    [
      events,
      "${name}: those of an answer",
      "${name}: those of a failure",
      "a stream that breaks is told of as started, failed and ended"
    ],
    [requests, "panels of a fusion: one request for plugins", "is told of by its calls only"]
  ),
  statement("Pictures, sound, moderations, rankings, embeddings, searches and turns of WebSockets have them, too", [
    endpoints,
    "${name}: what is answered and what fails",
    "turns of a WebSocket, each as a request of its own"
  ]),
  statement(
    "A plugin is told of its installation, activation, deactivation and removal; of the first without permissions, of the last while its files are there",
    [life, "a plugin is told of its installation without permissions, and of the rest of its life with them"]
  ),
  statement("Events that do not wait cross in batches; what finds their line full is dropped and counted", [
    hooks,
    "cross in batches, with the body where it is asked for",
    "that find the line full are dropped and counted"
  ]),
  statement(
    "A stream is held back for a plugin that asks for it, and sent changed; else it is only told of at its end",
    [
      answers,
      "${wire}: is sent changed",
      "${wire}: is the same where nothing is changed",
      "sends nothing before its end",
      "is not changed by what comes of it, and is called for behind it"
    ],
    [
      "test/unit/inference/features/plugins/HookedReply.test.ts",
      "sends nothing, and then what it is concluded with",
      "goes on as it comes where it is too large"
    ]
  ),
  statement("Plugins that changed a stream whose head had gone out are named in a trailer", [
    "test/unit/inference/features/plugins/HookedReply.test.ts",
    "names them in a trailer where its head was sent before",
    "reaches a client over a socket with its trailer, if that takes some"
  ]),
  statement(
    "A plugin's own answer to a search, and to each other endpoint, is one that its clients can read, or is refused",
    [endpoints, "what is not a conversation in the form of its endpoint, and in no other"],
    ["test/unit/search/SearchAnswer.test.ts", "is what is published"]
  ),
  statement("What an answer has used is told as the provider said it, whatever a plugin writes there", [
    official,
    "are read by the SDKs of five wires, whole and held back; from a ${upstreamWire} upstream"
  ]),
  statement("Without its permission a global is not there; with it, it is", [...matrix]),
  statement(
    "`network` gives `fetch` and what belongs to it, to public addresses and named hosts alone",
    [...matrix],
    [
      network,
      "reaches no address of this machine, its network or a cloud's metadata",
      "checks the addresses that a name leads to, each time it is called",
      "follows a redirect to the same place only",
      "asks only the hosts that the manifest names"
    ]
  ),
  statement(
    "`file-read` reads files, lists folders and tells of both, in the plugin's own folder",
    [...matrix],
    [
      files,
      "are only those in its own folder, by whatever path",
      "are read, written, listed and removed from inside the sandbox"
    ]
  ),
  statement(
    "`file-write` writes files, makes folders and removes both, there",
    [...matrix],
    [
      files,
      "are read, written, listed and removed from inside the sandbox",
      "removes a folder with links in it without following them",
      "are bounded each and together, also when many are written at once"
    ]
  ),
  statement(
    "`env` gives an environment that cannot be changed, without secrets",
    [...matrix],
    [exec, "is read-only", "has nothing of the gateway and no secrets"]
  ),
  statement(
    "`exec` gives `exec` and `execSync`, without a shell, where the operator's variable allows it as well",
    [...matrix],
    [
      exec,
      "run with an argument list, without a shell and without the gateway's environment",
      "give their output to both functions, and end with the call"
    ],
    [globals, "has no programs without the operator's variable, whatever was granted"],
    [lifecycle, "what was not granted is 409 with its list; exec needs the variable, too"]
  ),
  statement("More than eighty scripts that try to leave the sandbox reach nothing of the host", [
    escape,
    "are many",
    "reach nothing of the host",
    "load no module but their own files and the SDK"
  ]),
  statement(
    "Code that does not end, or takes more memory than it may, is ended, and the plugin serves the next call",
    [runaways, "is stopped: ${script}"],
    [engine, "does not grow beyond its maximum by ${what}"],
    [calls, "that are too late end the thread with all that is under way; the next one starts another"]
  ),
  statement("What comes out of a sandbox is JSON of the right form and size, or a failure with its reason", [
    results,
    "is refused with the reason where it is not JSON of the right form"
  ]),
  statement("Calls and the end of a plugin leave no thread, timer or listener behind", [
    calls,
    "leave nothing behind: no thread, timer, listener or call"
  ]),
  statement(
    "A plugin that fails is skipped, and stopped after five failures in a row",
    [requests, "is skipped, unless no request may pass without it"],
    [lifecycle, "one is skipped, stopped after five failures in a row, and told of"],
    [killed, "lets all others be answered where it is none, and ${how}"]
  ),
  statement(
    "Where a guard fails nothing passes, whatever is done to its thread",
    [lifecycle, "a guard refuses requests instead, also when it was stopped"],
    [killed, "lets none slip by it where it is a guard that ${how}"],
    [answers, "is not sent where a plugin without which none may pass fails"]
  ),
  statement(
    "A plugin that is replaced or deactivated still judges what it was asked, and its failures are not those of its successor",
    [
      "test/http/plugins/replacing.test.ts",
      'is judged by it${failClosed ? ", a guard," : ""} while another version comes in its place',
      'is judged by it${failClosed ? ", a guard," : ""} while it is deactivated'
    ],
    [hooks, "of one that was replaced meanwhile are not those of its successor"]
  ),
  statement(
    "A plugin that is deactivated, removed or has failed still answers what it was asked, within its time, and is asked nothing more",
    [
      running,
      "${kind} what it was asked before, and is asked nothing after",
      "has the time of one call, and not more",
      "ends with the gateway, without a wait",
      "passes a guard that was deactivated before its turn",
      "is refused by a guard that has failed before its turn",
      "is not let past a guard by a gateway that stops"
    ],
    [
      "test/http/plugins/replacing.test.ts",
      'is judged by it${failClosed ? ", a guard," : ""} while it is deactivated',
      'is judged by it${failClosed ? ", a guard," : ""} before its files are removed'
    ]
  ),
  statement("A gateway that stops waits for no plugin", [
    stopping,
    "about ${kind}: the original goes out",
    "about ${kind} that none may pass unseen: it is refused"
  ]),
  statement(
    "A plugin is always in one of its states, also after `kill -9` in the middle of a change",
    [kills, "${rounds} rounds of install, activate, configure, replace and remove, killed at random moments"],
    [
      folder,
      "a replacement that was staged and not named by the row is taken back",
      "one that the row names is finished, also between its two renames"
    ]
  ),
  statement(
    "Files are checked by path and size, and by their hash whenever they are loaded",
    [
      texts,
      "takes 5 MB and refuses a byte more",
      "refuses 201 files, 10,000 as well",
      "refuses names that differ in letter case, a file that is a folder, what is no text, and a missing main"
    ],
    [lifecycle, "changed files stop it, and it starts again once they are installed anew"]
  ),
  statement("A plugin may bring a router strategy, which is bounded and rests after it was too slow", [
    selector,
    "selects one of the pool",
    "is passed over when it ${what}, and is asked again",
    "rests after ${what}, and comes back in a new engine"
  ]),
  statement(
    "The plugins that come with the gateway do what they say",
    [
      samples,
      "rate-limiter: counts each value of a header, and answers 429 with when to come back",
      "word-guard: refuses a word wherever it stands, in any letter case",
      "answer-filter: replaces words in whole answers and in streams",
      "cost-tracker: sums up what whole answers and streams took, by day and model",
      "request-logger: writes what was asked, what failed and how it ended"
    ],
    [lifecycle, "each plugin of the marketplace can be installed and starts"]
  ),
  statement(
    "Of a list elsewhere nothing is installed but what has the hash, the name and the version that it names; where it cannot be had, the own plugins are listed",
    [
      marketplace,
      "is shown behind the own plugins, and what it has is installed with its hash",
      "that is wrong leaves the own plugins, and says why; nothing is installed",
      "at a private address is not called without permission",
      "that is not what the list says is not installed",
      "is looked at as every other one, whatever its hash",
      "does not take the place of one that came from elsewhere"
    ],
    [hanging, "and has a plugin: it is given up after 30 seconds"]
  ),
  statement("The documented commands lead from nothing to a plugin that is called on real requests", [
    commands,
    "is made, tested, installed, called, configured, changed and replaced as the page says",
    "says which test fails and why, and is not installed with a hook that it has not"
  ])
]
