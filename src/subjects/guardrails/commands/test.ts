/** `gateway guardrails test <text>`. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import { GuardrailTest } from "../routes.ts"
import { defaultGuardrailSettings } from "../entity.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"

const words = Args.text({ name: "text" }).pipe(Args.withDescription("What a user would write."), Args.atLeast(1))
const offline = Options.boolean("offline").pipe(
  Options.withDescription("Ask no gateway: look with the built-in detectors, as if all guardrails were on.")
)

const onThisMachine = (given: string): Effect.Effect<GuardrailTest> =>
  Effect.map(
    Effect.promise(() => import("../../../plane/guard/Inspect.ts")),
    ({ inspect }) =>
      inspect(given, {
        settings: defaultGuardrailSettings,
        sanitiser: true,
        injection: "redact",
        personalData: true
      })
  )

const rowsOf = (given: string, { injections, personalData }: GuardrailTest) => [
  ...personalData.map(({ detector, end, start }) => ({
    what: detector,
    severity: "-",
    found: given.slice(start, end)
  })),
  ...injections.map(({ end, group, severity, start }) => ({ what: group, severity, found: given.slice(start, end) }))
]

const lineOf = ({ found, severity, what }: ReturnType<typeof rowsOf>[number]): string =>
  severity === "-" ? `${what}: ${found}` : `${what} (${severity}): ${found}`

const page = (given: string, value: GuardrailTest): string => {
  const rows = rowsOf(given, value)
  const found = rows.length === 0 ? "Nothing is found." : rows.map(lineOf).join("\n")
  return value.sent === null ? `${found}\n\nA request with it is refused.` : `${found}\n\nSent as:\n${value.sent}`
}

export const guardrailsTest = Command.make("test", { words, offline, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const text = given.words.join(" ")
    const asked = Effect.gen(function* () {
      const to = yield* Client.target(given)
      const client = yield* Client.group(to, "guardrails")
      return yield* client.test({ payload: { text } }).pipe(Client.orExplain(to))
    })
    const value = given.offline ? yield* onThisMachine(text) : yield* asked
    yield* Output.result({ schema: GuardrailTest, value, text: Output.print(page(text, value)), name: "" })
  })
)
