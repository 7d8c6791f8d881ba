/** `gateway webhook add`, `edit`, `enable`, `disable` and `remove`. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { CreateWebhook, UpdateWebhook } from "../routes.ts"
import { body, changes } from "../../../cli/flags/Flags.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"
import { allowSameName, refuseTaken } from "../../../cli/sameName.ts"
import { type QuietFlags, quietFlagNames, quietSettings, readQuiet } from "./quiet.ts"
import { webhooks, OneWebhook, rivalsOf, webhook } from "./rows.ts"
import { findOne, removeOf, switchesOf } from "../../../cli/verbs/noun.ts"

const settings = {
  events: Options.text("event").pipe(
    Options.withDescription("An event that is sent, such as request.failed; '*' for all. May be given several times."),
    Options.repeated
  ),
  kind: Options.choice("kind", ["custom", "generic", "slack", "discord", "teams", "email"]).pipe(
    Options.withDescription(
      "What is sent: custom (or generic) is each event as JSON, the others are messages for people."
    ),
    Options.optional
  ),
  from: Options.text("from").pipe(
    Options.withDescription("Of email: the address that messages come from."),
    Options.optional
  ),
  receivers: Options.text("mail-to").pipe(
    Options.withDescription("Of email: an address that messages go to. May be given several times."),
    Options.repeated
  ),
  user: Options.text("user").pipe(
    Options.withDescription("Of email: who logs in at the mail server."),
    Options.optional
  ),
  password: Options.text("password").pipe(
    Options.withDescription("Of email: the password at the mail server."),
    Options.optional
  ),
  tls: Options.choice("tls", ["implicit", "starttls", "none"]).pipe(
    Options.withDescription("Of email: how the connection is protected; smtps:// is implicit, smtp:// starttls."),
    Options.optional
  ),
  secret: Options.text("secret").pipe(
    Options.withDescription("The key of the signatures; without it one is made."),
    Options.optional
  ),
  description: Options.text("description").pipe(Options.withDescription("What it is for."), Options.optional),
  ...quietSettings
}

const flagNames = {
  url: "<url>",
  events: "--event",
  kind: "--kind",
  secret: "--secret",
  description: "--description",
  "mail.from": "--from",
  "mail.to": "--mail-to",
  "mail.user": "--user",
  "mail.password": "--password",
  "mail.tls": "--tls",
  ...quietFlagNames
}

interface ChangeFlags extends QuietFlags {
  readonly events: ReadonlyArray<string>
  readonly kind: Option.Option<string>
  readonly secret: Option.Option<string>
  readonly description: Option.Option<string>
  readonly from: Option.Option<string>
  readonly receivers: ReadonlyArray<string>
  readonly user: Option.Option<string>
  readonly password: Option.Option<string>
  readonly tls: Option.Option<string>
}

/** Members that were given; undefined where none was. */
const mailOf = ({ from, password, receivers, tls, user }: ChangeFlags) => {
  const given = Object.entries({
    from: Option.getOrUndefined(from),
    to: receivers.length === 0 ? undefined : receivers,
    user: Option.getOrUndefined(user),
    password: Option.getOrUndefined(password),
    tls: Option.getOrUndefined(tls)
  }).filter(([, value]) => value !== undefined)
  return given.length === 0 ? undefined : Object.fromEntries(given)
}

const plainOf = ({ description, events, kind, secret }: ChangeFlags) => ({
  events: events.length === 0 ? undefined : events,
  kind: Option.getOrUndefined(kind),
  secret: Option.getOrUndefined(secret),
  description: Option.getOrUndefined(description)
})

const inputOf = (given: ChangeFlags) =>
  Effect.map(readQuiet(given), (quiet) => ({ ...plainOf(given), mail: mailOf(given), ...quiet }))

const newUrl = Args.text({ name: "url" }).pipe(
  Args.withDescription("Where events are sent: http or https; of email the server, smtps://host or smtp://host.")
)

export const webhookAdd = Command.make(
  "add",
  { receiver: newUrl, ...settings, allowSameName, ...Client.connection },
  (given) =>
    Effect.gen(function* () {
      const payload = yield* body(CreateWebhook, { url: given.receiver, ...(yield* inputOf(given)) }, flagNames)
      const to = yield* Client.target(given)
      const client = yield* Client.group(to, "webhooks")
      const answer = yield* client.list().pipe(Client.orExplain(to))
      yield* refuseTaken(rivalsOf(answer.webhooks), {
        what: "webhook",
        name: payload.url,
        isAllowed: given.allowSameName,
        ownId: null
      })
      const created = yield* client.create({ payload }).pipe(Client.orExplain(to))
      const { kind, secret, url } = created.webhook
      yield* Output.result({
        schema: OneWebhook,
        value: created,
        text:
          kind === "custom"
            ? Effect.zipRight(
                Output.note(`${url} is sent events from now on. Its receiver verifies them with this secret:`),
                Output.print(secret ?? "")
              )
            : Output.note(`${url} is sent messages from now on. Try it: gateway webhook test ${url}`),
        name: url
      })
    })
)

const otherUrl = Options.text("to").pipe(Options.withDescription("Another address."), Options.optional)

export const webhookEdit = Command.make(
  "edit",
  { webhook, to: otherUrl, ...settings, allowSameName, ...Client.editing },
  (given) =>
    Effect.gen(function* () {
      const input = { url: Option.getOrUndefined(given.to), ...(yield* inputOf(given)) }
      const payload = yield* changes(
        UpdateWebhook,
        input,
        { ...flagNames, url: "--to" },
        "webhook edit https://hooks.example.com --event request.failed"
      )
      const to = yield* Client.target(given)
      const { client, found, all } = yield* findOne(webhooks, to, given.webhook)
      if (payload.url !== undefined) {
        const taken = { what: "webhook", name: payload.url, isAllowed: given.allowSameName, ownId: found.id }
        yield* refuseTaken(rivalsOf(all), taken)
      }
      const answer = yield* client.update({ path: { id: found.id }, payload })
      const { url } = answer.webhook
      yield* Output.result({ schema: OneWebhook, value: answer, text: Output.note(`${url} is changed.`), name: url })
    })
)

const switches = switchesOf(webhooks, {
  schema: OneWebhook,
  ask: (client, id, enabled) => client.update({ path: { id }, payload: { enabled } }),
  enabled: ({ url }) => `${url} is sent events again, those that waited first.`,
  disabled: ({ url }) => `${url} is sent nothing from now on; 'gateway webhook enable' brings it back.`
})

export const webhookEnable = switches.enable
export const webhookDisable = switches.disable

export const webhookRemove = removeOf(webhooks, {
  ask: (client, id) => client.remove({ path: { id } }),
  record: ({ url }) => ({ url }),
  sentence: ({ url }) => `The webhook ${url} was removed, with the events that waited for it.`
})
