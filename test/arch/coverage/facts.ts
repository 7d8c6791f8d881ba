/** Where headers, errors and limits of the inference plane are shown. */
import type { Shown } from "./Shown.ts"

export interface FactRow {
  readonly name: string
  readonly what: string
  readonly shown: ReadonlyArray<Shown>
}

const row = (name: string, what: string, ...shown: ReadonlyArray<Shown>): FactRow => ({ name, what, shown })

const headers = "test/http/inference/headers.test.ts"
const routing = "test/http/inference/routing.test.ts"
const fusion = "test/http/inference/fusion.test.ts"
const auto = "test/unit/routing/auto/Auto.test.ts"
const healing = "test/unit/routing/auto/SelfHealing.test.ts"
const lockouts = "test/unit/resilience/lockouts.test.ts"
const budgets = "test/http/ledger/budgets.test.ts"
const refusals = "test/http/inference/refusals.test.ts"
const resilienceDocument: Shown = ["test/arch/docs.test.ts", "resilience.md shows the defaults that are in force"]
const kept = "test/http/inference/cache.test.ts"
const again = "test/http/inference/idempotency.test.ts"
const compression = "test/http/inference/compression.test.ts"

export const headerRows: ReadonlyArray<FactRow> = [
  row("X-Session-Id, x_session_id", "request: keeps a session on its account", [
    headers,
    "a session's id is taken in every spelling, and told back"
  ]),
  row("X-Gateway-Session-Id", "answer: the session in force", [
    headers,
    "a session's id is taken in every spelling, and told back"
  ]),
  row(
    "X-Gateway-Mode",
    "request: weights of `auto` for this request",
    [auto, "the mode header changes the weights, an unknown one nothing"],
    ["test/unit/routing/auto/Weights.test.ts", "knows every word of the mode header"]
  ),
  row(
    "X-Gateway-Budget",
    "request: most USD for this request, of `auto`",
    [auto, "the budget header goes before the combo's cap"],
    [
      "test/unit/routing/auto/Filters.test.ts",
      "keeps what the budget allows; the cheapest healthy one when it allows nothing"
    ]
  ),
  row("X-Gateway-Request-Id", "answer: its id in logs and ledger", [
    headers,
    "every answer has its id and the version, whatever is asked"
  ]),
  row("X-Gateway-Version", "answer: the version that runs", [
    headers,
    "every answer has its id and the version, whatever is asked"
  ]),
  row(
    "X-Gateway-Response-Cost, X-Gateway-Tokens-In, X-Gateway-Tokens-Out, X-Gateway-Model, X-Gateway-Provider, X-Gateway-Latency-Ms",
    "answer, whole: what it cost and who gave it",
    [headers, "a whole answer tells its cost, its tokens, who gave it and how long it took"]
  ),
  row(
    "X-Gateway-Fallback-Attempts",
    "answer: targets that failed before, where there were any",
    ["test/http/media/rank.test.ts", "goes on at a provider of another form, with one usage row"],
    [headers, "a whole answer tells its cost, its tokens, who gave it and how long it took"]
  ),
  row("X-Gateway-Dropped", "answer: fields that the target could not be told", [
    "test/http/inference/endpoints.test.ts",
    "are recorded like chat, and name what was dropped"
  ]),
  row(
    "X-Gateway-Mapped, X-Gateway-Dropped of a search of the web",
    "answer: the client's search tool went on in another form, or was left out",
    [
      "test/unit/wire/canonical/WebSearchAsk.test.ts",
      "is offered as an endpoint's own, with what cannot be said by the client's own names"
    ],
    ["test/http/inference/webSearch/rules.test.ts", "is left out by name where no provider of searches is connected"]
  ),
  row("X-Gateway-No-Cache", "request: past the cache", [
    kept,
    "keeps keys apart, and asks again where anything differs"
  ]),
  row(
    "X-Gateway-Cache, X-Gateway-Cache-Hit, X-Gateway-Cost-Saved",
    "answer: whether the cache had it, and what that saved",
    [kept, '${wire}: gives ${isFirstStreamed ? "a stream" : "a whole answer"} again, in either form']
  ),
  row("X-Gateway-Cache-Similarity", "answer: how near the kept question is that was answered before", [
    "test/http/inference/semanticCache.test.ts",
    "answers the same question in other words"
  ]),
  row(
    "Idempotency-Key, X-Request-Id; X-Gateway-Idempotent",
    "request: the same request again gets the same answer",
    [again, "gets the same answer, has a row of its own and costs nothing"],
    [again, "counts an X-Request-Id with an equal body only"]
  ),
  row("X-Gateway-Progress", "request: events of progress in a stream", [
    "test/http/inference/progress.test.ts",
    "stand in streams of three wires, for who asked for them"
  ]),
  row("x-gateway-no-memory", "request: without memory", [
    "test/http/inference/memory.test.ts",
    "learns nothing of keys that keep no log, of failures, and of clients that want none"
  ]),
  row(
    "x-gateway-compression; X-Gateway-Compression",
    "request and answer: how the prompt is compressed",
    [compression, "is what the header asks for, and a word that says nothing is no word"],
    [compression, "is off unless it is switched on, and a header cannot switch it on"]
  )
]

export const errorRows: ReadonlyArray<FactRow> = [
  row(
    "400",
    "a body that is not what the route takes",
    ["test/http/inference/badInput.test.ts", "${wire}, ${foreign[wire]} upstream: refused in the wire's own shape"],
    [
      "test/http/doors/bounds.test.ts",
      "deeper than 200 levels or of more than 100,000 keys: 400 with the limit, on every route"
    ]
  ),
  row("400", "another provider's model on a route of one provider", [
    "test/http/inference/endpoints.test.ts",
    "add the prefix, and serve no other provider's model"
  ]),
  row("401, 403", "a key that is missing, wrong, expired or barred", [
    refusals,
    "missing, wrong, expired, barred and good keys on ${path}"
  ]),
  row("405", "a wrong method", [refusals, "a wrong method is a 405 in the route's format"]),
  row("413", "a body that is too large", [refusals, "a body over the limit is a 413 on ${path}, announced or not"]),
  row("429", "the tokens of a key's window are used up", [
    budgets,
    "holds for its model only, and counts what was used"
  ]),
  row("429", "the money of a key's window is used up", [
    budgets,
    "is refused in every wire with the window's name, until it is renewed"
  ]),
  row("503", "no model of a fusion answered", [
    fusion,
    "is a 503 with the reasons when all fail",
    "is a 503 when no model answers before the hard timeout"
  ]),
  row("`upstream_ws_provider_required`", "a model that the WebSocket does not serve", [
    "test/http/ws/refusals.test.ts",
    "a model that is not served has the transport's own code"
  ]),
  row(
    "emergency fallback",
    "the account has no money left: a free model answers, or the request fails where that is off",
    [
      "test/http/inference/recovery/emergency.test.ts",
      "answers in place of an account without money, and says so",
      "does nothing when its flag is ${off}"
    ]
  ),
  row(
    "ignored",
    "words of `X-Gateway-Mode` and `X-Gateway-Budget` that mean nothing",
    [auto, "the mode header changes the weights, an unknown one nothing"],
    ["test/unit/routing/auto/Weights.test.ts", "ignores a budget header that is no positive number"]
  ),
  row("ignored", "words of `x-gateway-compression` that mean nothing", [
    compression,
    "is what the header asks for, and a word that says nothing is no word"
  ]),
  row("breaker", "upstream statuses that count for a provider's breaker: 408, 500, 502, 503, 504", [
    "test/unit/resilience/failure/Policy.test.ts",
    "countsForBreaker"
  ])
]

export const limitRows: ReadonlyArray<FactRow> = [
  row("5 s", "window in which a request is known again", [again, "is a new request where the window is closed"]),
  row("512 MiB", "a file", [
    "test/http/files/files.test.ts",
    "a file over the limit is refused by its length, and cut off when that lied"
  ]),
  row("2 answers, 8 s, 90 s", "a fusion's quorum, grace and hard timeout", [
    "test/unit/inference/features/fusion/panel.test.ts",
    "are the defaults where the combo has none or invalid ones"
  ]),
  row("5 s, 2 attempts, 8 s in all", "waits of a combo for a cooldown", resilienceDocument),
  row("120 s to 30 min, 10 steps", "lockout of a model", resilienceDocument, [
    lockouts,
    "escalate within the window up to the cap, and start anew after it"
  ]),
  row(
    "5 to 30 min; more than half OPEN",
    "exclusion from `auto`; incident mode",
    [
      "test/property/routing/auto.test.ts",
      "never excludes a candidate for more than 30 minutes at a time, and every exclusion ends in a probe"
    ],
    [healing, "is an incident when more than half of the providers are OPEN"]
  ),
  row("5 %, 10 %", "exploration of `auto` and of `auto/smart`", [
    auto,
    "explores at the rate of the config or the id, uniformly among the others that are not OPEN"
  ]),
  row("8 in 60 s, 12 in 30 s, 2 in 15 s", "failures that open a breaker: sign-in, key, local", resilienceDocument),
  row("5 searches, 20 at most", "searches of the web for one answer, where the gateway makes them", [
    "test/http/inference/webSearch/rules.test.ts",
    "is made as often as the client allows, and then the model is told so",
    "does not go on for ever with a model that only searches",
    "is on the bill of the request, with all calls of the model, and within the key's budget"
  ]),
  row("tokens of a key", "by model, by provider or of all", [
    budgets,
    "holds for its model only, and counts what was used",
    "leaves its model out of a combo, so that another one answers"
  ]),
  row("requests and sessions of a key", "in a window, at the same time", [
    budgets,
    "is limited by its windows, and each refusal says when to come again",
    "is limited by sessions that run at the same time"
  ]),
  row(
    "every limit and right of a key at every door",
    "by HTTP, sockets, batches, MCP, A2A, the playground and evaluations",
    ["test/http/doors/limits.test.ts", "${door.name}, ${door.category}"],
    ["test/unit/inference/InnerRequests.test.ts", "says what it counts for, and is served for a caller that may"]
  ),
  row("a share of what callers have together", "sessions, tasks, calls, jobs, sockets and what is kept", [
    "test/unit/kernel/FairPool.test.ts",
    "never takes from one who has no more than the asker, whatever is done",
    "leave something for whoever comes next"
  ])
]

export const routingRows: ReadonlyArray<FactRow> = [
  row("`<provider>/<model>`, combos, aliases, bare ids", "whose model a name is", [
    "test/unit/routing/resolve/ModelResolver.test.ts",
    "takes the provider from the prefix, by id, alias or node",
    "expands a combo in order, nested ones in place, each target once",
    "searches a bare id over what is connected",
    "follows aliases, also to combos, through one another and in combos"
  ]),
  row(
    "`auto`, `auto/<variant>`, `auto/<category>:<tier>`",
    "a choice over all connected models",
    [routing, "auto scores every candidate, and the score is the weighted sum"],
    ["test/unit/routing/decide/Decide.test.ts", "auto and auto/lkgp are the same choice, and remember the same"]
  ),
  row("`claude-3-gateway-no-thinking/…`", "the same model without reasoning", [
    "test/http/inference/models.test.ts",
    "offer the no-thinking alias, which a declaration forces on or off"
  ]),
  row("`qtSd/…`", "a quota share", [
    "test/unit/routing/resolve/ModelResolver.test.ts",
    "resolves a quota-share id to the members at the provider, with their weights"
  ])
]
