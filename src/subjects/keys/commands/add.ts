/** `gateway keys add`: on a running gateway, else straight into this machine's database. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { CreateKey, KeyView } from "../routes.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { body } from "../../../cli/flags/Flags.ts"
import { createKey } from "../../../cli/local/keys.ts"
import { allowSameName, refuseTaken } from "../../../cli/sameName.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { hasOwner, ownerNames, owners, ownersOf } from "./owners.ts"
import { restrictionNames, restrictions, restrictionsOf } from "./restrictions.ts"
import * as Output from "../../../cli/output/Output.ts"

const Created = Schema.Struct({ key: KeyView, secret: Schema.String })

const flags = {
  name: Args.text({ name: "name" }),
  scopes: Options.text("scope").pipe(
    Options.withDescription(
      "What the key may do beside inference, one of the scopes below. May be given several times."
    ),
    Options.repeated
  ),
  allowedModels: Options.text("model").pipe(
    Options.withDescription("A model it may use, '*' in it for any text. May be given several times."),
    Options.repeated
  ),
  expiresAt: Options.text("expires").pipe(
    Options.withDescription("When it stops working, ISO 8601, such as 2030-01-31T00:00:00Z."),
    Options.optional
  ),
  ...owners,
  allowSameName,
  ...restrictions,
  ...Client.connection
}

const flagNames = {
  name: "<name>",
  scopes: "--scope",
  allowedModels: "--model",
  expiresAt: "--expires",
  ...ownerNames,
  ...restrictionNames
}

const ownersElsewhere = new BadArgument({
  message: "The people and teams of keys are found by a running gateway only.",
  hint: "Start it, and leave --local away."
})

export const keysAdd = Command.make("add", flags, (given) =>
  Effect.gen(function* () {
    const settings = yield* body(
      CreateKey,
      {
        ...restrictionsOf(given),
        name: given.name,
        scopes: given.scopes,
        allowedModels: given.allowedModels.length === 0 ? undefined : given.allowedModels,
        expiresAt: Option.getOrUndefined(given.expiresAt)
      },
      flagNames
    )
    const isAllowed = given.allowSameName
    const created = yield* Client.atPlace(given, {
      gateway: (to) =>
        Effect.gen(function* () {
          const keys = yield* Client.group(to, "keys")
          const there = isAllowed ? [] : (yield* keys.list().pipe(Client.orExplain(to))).keys
          yield* refuseTaken(there, { what: "key", name: settings.name, isAllowed, ownId: null })
          const payload = { ...settings, ...(yield* ownersOf(to, given)) }
          return yield* keys.create({ payload }).pipe(Client.orExplain(to))
        }),
      folder: hasOwner(given) ? ownersElsewhere : createKey(settings, isAllowed)
    })
    const { name } = created.key
    yield* Output.result({
      schema: Created,
      value: created,
      text: Effect.zipRight(Output.note(`The key '${name}' is shown once; keep it now:`), Output.print(created.secret)),
      name
    })
  })
)
