/** `gateway route explain`: where a request would go, without sending it. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ExplainInput } from "../routes.ts"
import { WireName } from "../../../contract/domain/Wire.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { body } from "../../../cli/flags/Flags.ts"
import { each, NamedAny, notOf } from "../../../cli/flags/Forms.ts"
import { readJson } from "../../../cli/flags/JsonInput.ts"
import { candidateRows, headline, OneDecision, showCandidates } from "../../../cli/output/decision.ts"
import * as Output from "../../../cli/output/Output.ts"
import { comboFile, modelOrFile, triedOf } from "./trial.ts"
import { findKey } from "../../limits/commands/budgets.ts"
import { fields } from "../../../cli/output/Table.ts"

const flags = {
  model: modelOrFile("model", "Any id a client can ask for."),
  comboFile,
  body: Options.text("body").pipe(
    Options.withDescription("File with the request's JSON body, or - for standard input."),
    Options.optional
  ),
  wire: Options.choice("wire", WireName.literals).pipe(
    Options.withDescription("The wire format of the request."),
    Options.withDefault("chat" as const)
  ),
  header: Options.text("header").pipe(
    Options.withDescription("A request header as name=value; may be given several times."),
    Options.repeated,
    Options.withSchema(each(NamedAny, notOf("--header", "name=value"))),
    Options.map((pairs) => Object.fromEntries(pairs))
  ),
  key: Options.text("key").pipe(
    Options.withDescription(
      "Name or id of an API key that asks: what its rules leave out is shown as left out. Default: a caller without a key."
    ),
    Options.optional
  ),
  seed: Options.integer("seed").pipe(
    Options.withDescription(
      "A whole number that decides what is left to chance: the same seed gives the same decision. Default: another each time."
    ),
    Options.optional
  ),
  ...Client.connection
}

export const routeExplain = Command.make("explain", flags, (given) =>
  Effect.gen(function* () {
    const { compareWith: _none, ...tried } = yield* triedOf(given, "<model>")
    const sent = Option.isSome(given.body) ? yield* readJson("--body", given.body.value) : undefined
    const to = yield* Client.target(given)
    const key = Option.getOrUndefined(given.key)
    const payload = yield* body(
      ExplainInput,
      {
        ...tried,
        wire: given.wire,
        body: sent,
        headers: given.header,
        apiKeyId: key === undefined ? undefined : (yield* findKey(to, key)).id,
        seed: Option.getOrUndefined(given.seed)
      },
      { model: "<model>", combo: "--combo-file", body: "--body", apiKeyId: "--key", seed: "--seed" }
    )
    const client = yield* Client.group(to, "routing")
    const answer = yield* client.explain({ payload }).pipe(Client.orExplain(to))
    const { decision } = answer
    const text = Effect.gen(function* () {
      yield* Output.print(fields(headline(decision)))
      yield* Output.print("")
      yield* showCandidates(decision, "There are no candidates.")
    })
    yield* Output.result({
      schema: OneDecision,
      value: answer,
      text,
      csv: candidateRows(decision),
      name: decision.order[0] ?? ""
    })
  })
)
