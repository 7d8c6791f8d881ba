/** `gateway key show`, `edit`, `enable` and `disable`. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { KeyView, UpdateKey } from "../../../api/Groups/Keys.ts"
import * as Client from "../../gateway/Client.ts"
import { BadArgument } from "../../Failure.ts"
import { body, pick } from "../../Flags.ts"
import { each, notOf, twoNumbers } from "../../Forms.ts"
import * as Output from "../../output/Output.ts"
import { fields } from "../../output/Table.ts"

const OneKey = Schema.Struct({ key: KeyView })

const key = Args.text({ name: "key" }).pipe(Args.withDescription("Its name, its id or the beginning of it."))

const findKey = Effect.fnUntraced(function* (to: Client.Target, word: string) {
  const client = yield* Client.group(to, "keys")
  const { keys } = yield* client.list().pipe(Client.orExplain(to))
  return { client, found: yield* pick("key", keys, word, "gateway key list") }
})

const page = (shown: KeyView) =>
  fields([
    ["Name", shown.name],
    ["Begins with", shown.prefix],
    ["Scopes", shown.scopes.join(", ") || "inference"],
    ["Models", shown.allowedModels?.join(", ") || "all"],
    ["Limits", shown.rateLimits.map(({ limit, window }) => `${limit} requests in ${window} s`).join(", ") || "none"],
    ["Active", Output.yesNo(shown.isActive)],
    ["Expires", Output.shortTime(shown.expiresAt)],
    ["Last used", Output.shortTime(shown.lastUsedAt)],
    ["Created", Output.shortTime(shown.createdAt)],
    ["Id", shown.id]
  ])

export const keyShow = Command.make("show", { key, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const { client, found } = yield* findKey(to, given.key)
    const answer = yield* client.get({ path: { id: found.id } }).pipe(Client.orExplain(to))
    yield* Output.result({ schema: OneKey, value: answer, text: Output.print(page(answer.key)), name: found.name })
  })
)

const several = (name: string, description: string) =>
  Options.text(name).pipe(Options.withDescription(description), Options.repeated)

const editFlags = {
  key,
  name: Options.text("name").pipe(Options.withDescription("Another name."), Options.optional),
  scopes: several("scope", "What it may do beside inference: manage, admin; 'none' for nothing. Several times."),
  allowedModels: several("model", "A model it may use, or the beginning with '*'; 'all' for all. Several times."),
  expiresAt: Options.text("expires").pipe(
    Options.withDescription("When it stops working, ISO 8601; 'never'."),
    Options.optional
  ),
  rateLimits: Options.text("rate-limit").pipe(
    Options.withDescription("<requests>/<seconds>, such as 60/60. Several times; '0/0' for none."),
    Options.repeated,
    Options.withSchema(each(twoNumbers("/"), notOf("--rate-limit", "<requests>/<seconds>")))
  ),
  ...Client.connection
}

const flagNames = {
  name: "--name",
  scopes: "--scope",
  allowedModels: "--model",
  expiresAt: "--expires",
  rateLimits: "--rate-limit"
}

/** Undefined: not given; `cleared`: only the word that clears was given. */
const listOf = <A>(given: ReadonlyArray<string>, word: string, cleared: A) =>
  given.length === 0 ? undefined : given.length === 1 && given[0] === word ? cleared : given

export const keyEdit = Command.make("edit", editFlags, (given) =>
  Effect.gen(function* () {
    const limits = given.rateLimits.filter(([limit]) => limit > 0).map(([limit, window]) => ({ limit, window }))
    const payload = yield* body(
      UpdateKey,
      {
        name: Option.getOrUndefined(given.name),
        scopes: listOf(given.scopes, "none", []),
        allowedModels: listOf(given.allowedModels, "all", null),
        expiresAt: Option.getOrUndefined(Option.map(given.expiresAt, (at) => (at === "never" ? null : at))),
        rateLimits: given.rateLimits.length === 0 ? undefined : limits
      },
      flagNames
    )
    if (Object.keys(payload).length === 0) {
      return yield* new BadArgument({
        message: "What is to be changed is not said.",
        hint: "Example: gateway key edit laptop --expires 2030-01-31T00:00:00Z"
      })
    }
    const to = yield* Client.target(given)
    const { client, found } = yield* findKey(to, given.key)
    const answer = yield* client.update({ path: { id: found.id }, payload }).pipe(Client.orExplain(to))
    const { name } = answer.key
    yield* Output.result({ schema: OneKey, value: answer, text: Output.note(`The key '${name}' is changed.`), name })
  })
)

const switching = (word: "enable" | "disable") =>
  Command.make(word, { key, ...Client.connection }, (given) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const { client, found } = yield* findKey(to, given.key)
      const isActive = word === "enable"
      const answer = yield* client.update({ path: { id: found.id }, payload: { isActive } }).pipe(Client.orExplain(to))
      const sentence = isActive
        ? `The key '${found.name}' works again.`
        : `The key '${found.name}' is refused from now on; 'gateway key enable' brings it back.`
      yield* Output.result({ schema: OneKey, value: answer, text: Output.note(sentence), name: found.name })
    })
  )

export const keyEnable = switching("enable")
export const keyDisable = switching("disable")
