/** Where each statement on the traffic inspector is shown. */
import { type StatementRow, statement } from "./Statement.ts"
import type { Shown } from "./Shown.ts"

const access = "test/http/inspector/access.test.ts"
const feed = "test/http/inspector/feed.test.ts"
const gateway = "test/http/inspector/gatewayCapture.test.ts"
const own = "test/http/inspector/ownTraffic.test.ts"
const requests = "test/http/inspector/requests.test.ts"
const sessions = "test/http/inspector/sessions.test.ts"
const inspector = "test/unit/inspector/Inspector.test.ts"
const ring = "test/unit/inspector/Ring.test.ts"
const unitFeed = "test/unit/inspector/Feed.test.ts"
const reading = "test/unit/inspector/reading/Reading.test.ts"
const attribution = "test/unit/inspector/Attribution.test.ts"
const recorded = "test/unit/inspector/Sessions.test.ts"
const exports = "test/unit/inspector/exports/Exports.test.ts"
const bodies = "test/unit/inspector/Bodies.test.ts"
const sink = "test/unit/capture/InspectorSink.test.ts"
const masking: Shown = [
  "test/http/inspector/masking.test.ts",
  "are in no answer, export, frame, row or line of the log"
]

export const inspectorRows: ReadonlyArray<StatementRow> = [
  statement("All choices of an answer are told, whatever the wire, whole and streamed", [
    "test/unit/inspector/reading/Choices.test.ts",
    "are bounded, and cost no more than their bytes"
  ]),
  statement(
    "Retries of one prompt are counted together: one line that opens, in lists, sessions, conversations and at a terminal",
    [
      "test/unit/inspector/Retries.test.ts",
      "are one line with their number, for which the newest stands; the line opens"
    ],
    [requests, "are one line where a prompt is asked again after failures, which opens"],
    [sessions, "count the retries of a prompt together"],
    ["test/cli/inspect.test.ts", "counts the retries of a prompt as one line, which opens"]
  ),
  statement(
    "Updates reach the feed within 100 ms at the 95th percentile; how far the recording is behind is told in the modes and the feed",
    [
      "test/unit/inspector/Delay.test.ts",
      "reaches the feed within 70 ms, whenever it comes between others",
      "is told to be behind while the thread does not come to it"
    ],
    [unitFeed, "tells twice a second how far the recording is behind, and once that it has caught up"]
  ),
  statement(
    "A captured request is sent to its own server again, as it is kept or changed, and the answers are compared",
    [
      "test/http/inspector/directReplay.test.ts",
      "goes as it is kept or changed, and its answer is recorded and compared",
      "takes a masked credential from the connection of its address, and sends it nowhere else",
      "is refused where it cannot be sent, or its address may not be called"
    ],
    ["test/cli/inspect.test.ts", "sends a request to its own server again, and compares the answers"]
  ),
  statement("Requests are filtered and grouped by the hash of their system prompt", [
    requests,
    "are grouped by their system prompt"
  ]),
  statement(
    "`inspect` without a command is a list to move in at a terminal",
    [
      "test/unit/cli/browse.test.ts",
      "filters as one types, by all words, anywhere",
      "marks requests, and compares two of them"
    ],
    ["test/cli/inspect.test.ts", "is a list to move in at a terminal, and a table elsewhere"]
  ),
  statement(
    "All sources go into one ring in memory, which is bounded; the oldest records rotate out",
    [ring, "rotates the oldest records out", "drops bodies before records, and says so"],
    [requests, "are listed by filters and in pages, and rotate out"],
    ["test/property/inspector/Ring.test.ts", "never exceeds its limits, and its sum of bytes is that of what it holds"]
  ),
  statement("The ring is streamed over a WebSocket: a snapshot on connect, then `new`, `update` and `clear`", [
    feed,
    "begins with a snapshot and tells what is new, changed and cleared"
  ]),
  statement(
    "A reader of the feed that stops reading holds nothing up, and its queue is bounded",
    [feed, "lets a client that never reads wait for nobody"],
    [unitFeed, "lets a slow reader miss changes, bounded, and gives it the whole list when it has caught up"]
  ),
  statement("All routes are for this machine only, and say so before anything else: 403 before 401", [
    access,
    "answer other machines 403 before anything else, whatever credential they have",
    "answer what comes through a tunnel 403"
  ]),
  statement("The source of a record is the way it came by", [
    requests,
    "come by ways that can be asked for, of which the gateway's own traffic is off at first"
  ]),
  statement(
    "A record is `in-flight` first, and updated in its place",
    [inspector, "shows an exchange as in-flight first, then updates it in its place"],
    [own, "is listed while it runs, and updated in its place"]
  ),
  statement("The kind is found by four signals: host, path, form of the body, program", [
    reading,
    "is llm by each signal alone",
    "is app for other JSON, and unknown else"
  ]),
  statement("A custom host has the kind it was added with", [
    sink,
    "is told the kind of a custom host, and by which ports its client can be found"
  ]),
  statement("The context key is the beginning of the SHA-256 of the system prompt", [
    reading,
    "is that of the system prompt, wherever it stands",
    "joins the texts of parts with line ends"
  ]),
  statement(
    "A connection is attributed to its process; the tables are read once a second, and again for younger connections, within a bound; a failure is null",
    [
      attribution,
      "finds the process by its socket, in both address families",
      "reads the tables once a second, and once more for a connection that is younger",
      "finds a younger connection of a younger process",
      "is null where the tables are missing or no tables",
      "finds this very process"
    ]
  ),
  statement("Metadata of a model's exchange: provider, format, model, turns, tokens, streamed, mapped model, cost", [
    reading,
    "is read by the format's own decoders, whole and streamed",
    "counts turns",
    "estimates tokens where the upstream reported none, and says so",
    "has cost by the price book, speed, and the counts of the cache"
  ]),
  statement("Conversations of all formats have blocks of text, calls and results; streams are merged", [
    reading,
    "has the turns of each format, and the answer merged from its stream",
    "shows thinking, calls, results and media as blocks"
  ]),
  statement("A stream of an unknown format is shown by its events", [
    reading,
    "shows the events as they came where the format is unknown, and the message of an error"
  ]),
  statement("The context window is shown section by section and tool by tool, and adds up to the prompt", [
    "test/unit/inspector/reading/Anatomy.test.ts",
    "has the sections in the order of the cache: tools, system, messages, parameters",
    "adds up to the bytes of the body, in every format"
  ]),
  statement("Two requests are compared: the first place that differs, and the bytes both begin with", [
    "test/unit/inspector/diff/Diff.test.ts",
    "names the place, in the request and in the prompt",
    "counts the bytes both begin with, within characters of several bytes too"
  ]),
  statement(
    "A broken prompt cache is told with its cause, the place, the party and the cost",
    [requests, "tell who broke the prompt cache"],
    [
      "test/unit/inspector/cache/FindBreak.test.ts",
      "has cases of all eleven rules and of all five wires",
      "is told at every call but the first"
    ],
    [
      "test/unit/inspector/cache/AppendOnly.test.ts",
      'tells no break in ${turns} turns on ${provider.wire} at ${provider.provider}, reasoning ${keepsReasoning ? "kept" : "dropped"}'
    ]
  ),
  statement("Requests are listed by profile, host, agent, status, source and session", [
    ring,
    "is filtered by each of its filters",
    "comes in pages, each record once, with the total of all"
  ]),
  statement("One request, a note to it, and the clearing of the list", [
    inspector,
    "finds text, pages, annotates, exports and clears"
  ]),
  statement(
    "A session is recorded from `POST /sessions` to its stop, and is frozen then; it can be renamed and deleted",
    [sessions, "record one at a time, and are frozen when they are stopped"],
    [recorded, "are removed while they record, and another one can begin"]
  ),
  statement(
    "Sessions are on file only where they are recorded, as they come, and bounded",
    [
      recorded,
      "are on file within a second, as a crash would find them",
      "hold so many requests, and say that there were more",
      "hold so many bytes, whatever is written again"
    ],
    [sessions, "are interrupted by the end of the gateway, and keep what they have"]
  ),
  statement(
    "Lists and sessions are exported as HAR 1.2 and as lines of JSON, one a request",
    [exports, "is valid for every kind of entry", "has times that add up, and absolute addresses"],
    [requests, "are exported as an archive and as lines, by the same filters"]
  ),
  statement(
    "An archive of another program is read as a session",
    [sessions, "are made of archives of other programs, whose secrets are masked"],
    [exports, "reads archives of other programs, which lack what they may", "names what is wrong and where"]
  ),
  statement(
    "`INSPECTOR_BUFFER_SIZE`, `INSPECTOR_MAX_BODY_KB`, `INSPECTOR_MASK_SECRETS` and the others are settings of the environment",
    [inspector, "are those of the environment, with the usual ones for what is wrong"]
  ),
  statement("Secrets are masked in headers and bodies before anything is kept, unless masking is off", masking, [
    inspector,
    "shows and stores no secret of any kind, in whatever part of an exchange it came",
    "keeps secrets where it is told to, and still shows them only when asked"
  ]),
  statement("Bodies above the limit are cut with a notice", [
    bodies,
    "is cut with a notice that tells how much of it is shown, between characters",
    "shows no secret: masked before it is cut, decoded before it is masked"
  ]),
  statement("Ingest takes records with its token alone, and none without one in the environment", [
    requests,
    "are handed in with the token only, and updated by a second call with the id",
    "are refused without a token in the environment, or with a short one"
  ]),
  statement(
    "The gateway's own traffic is recorded where that is turned on, with what was sent upstream",
    [
      own,
      'is recorded: ${apiKind}${streamed ? ", streamed" : ""}',
      "is not recorded while it is off",
      "has each column of a comparison once, with its request, answer and decision"
    ],
    [gateway, "is off at first, loads nothing, and is kept over a restart"]
  )
]
