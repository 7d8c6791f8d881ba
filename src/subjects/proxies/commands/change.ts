/** `gateway proxy add`, `edit`, `enable`, `disable`, `remove`, `on` and `off`. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { CreateProxy, ProxySwitch, type ProxyView, UpdateProxy } from "../routes.ts"
import { ProxyFamily } from "../entity.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { body } from "../../../cli/flags/Flags.ts"
import { ifMatch } from "../../../cli/gateway/Versions.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"
import { readAddress } from "./address.ts"
import { passwordFlag, readPassword } from "./password.ts"
import { addressOf, OneProxy } from "./rows.ts"
import { proxies } from "../../../cli/finding/pickProxy.ts"
import { asking } from "../../../cli/verbs/asking.ts"
import { on, switchesOf } from "../../../cli/verbs/noun.ts"

const flagNames = {
  name: "--name",
  host: "<address>",
  port: "<address>",
  type: "<address>",
  username: "<address>",
  family: "--family"
}

const family = Options.choice("family", ProxyFamily.literals).pipe(
  Options.withDescription("The IP family of the way to the proxy; the other one is then never used."),
  Options.optional
)

const address = Args.text({ name: "address" }).pipe(
  Args.withDescription("Such as socks5://user@host:1080; http:// and https:// too.")
)

const typed = (text: string) =>
  Either.match(readAddress(text), {
    onLeft: (message) => Effect.fail(new BadArgument({ message })),
    onRight: Effect.succeed
  })

const shown = (answer: { readonly proxy: ProxyView }, sentence: string) =>
  Output.result({ schema: OneProxy, value: answer, text: Output.note(sentence), name: answer.proxy.name })

const name = Options.text("name").pipe(Options.withDescription("Its name; without one the host's."), Options.optional)

export const proxyAdd = Command.make(
  "add",
  { address, name, family, password: passwordFlag, ...Client.connection },
  (given) =>
    Effect.gen(function* () {
      const parts = yield* typed(given.address)
      const input = {
        ...parts,
        name: Option.getOrElse(given.name, () => parts.host),
        username: parts.username ?? undefined,
        password: yield* readPassword(given.password, parts.username),
        family: Option.getOrUndefined(given.family)
      }
      const payload = yield* body(CreateProxy, input, flagNames)
      const to = yield* Client.target(given)
      const client = yield* Client.group(to, "proxies")
      const created = yield* client.create({ payload }).pipe(Client.orExplain(to))
      yield* shown(
        created,
        `The proxy '${created.proxy.name}' is there and not used yet. Try it with 'gateway proxy test ${created.proxy.name}', assign it with 'gateway proxy assign ${created.proxy.name} --all'.`
      )
    })
)

const otherAddress = Options.text("address").pipe(
  Options.withDescription("Another address; a stored password has to be given again."),
  Options.optional
)
const otherName = Options.text("name").pipe(Options.withDescription("Another name."), Options.optional)

export const proxyEdit = on(
  "edit",
  proxies,
  { address: otherAddress, name: otherName, family, password: passwordFlag, ifMatch },
  function* ({ client, found, given }) {
    const parts = Option.isNone(given.address) ? {} : yield* typed(given.address.value)
    const input = {
      ...parts,
      id: found.id,
      name: Option.getOrUndefined(given.name),
      family: Option.getOrUndefined(given.family),
      ...(given.password ? { password: yield* readPassword(true, null) } : {})
    }
    const payload = yield* body(UpdateProxy, input, flagNames)
    const answer = yield* client.update({ payload })
    yield* shown(
      answer,
      `The proxy '${answer.proxy.name}' is now ${addressOf(answer.proxy)}, family ${answer.proxy.family}.`
    )
  }
)

const switches = switchesOf(proxies, {
  schema: OneProxy,
  ask: (client, id, isActive) => client.update({ payload: { id, isActive } }),
  enabled: ({ name }) => `The proxy '${name}' may be used again.`,
  disabled: ({ name }) =>
    `The proxy '${name}' is not used. Calls that it is assigned to fail until another is assigned, or none.`
})

export const proxyEnable = switches.enable
export const proxyDisable = switches.disable

export const proxyRemove = on("remove", proxies, {}, function* ({ client, found }) {
  const { assignments } = yield* client.assignments()
  yield* client.remove({ urlParams: { id: found.id } })
  const left = assignments.filter(({ proxyId }) => proxyId === found.id).length
  yield* Output.done(
    { removed: found.id, name: found.name },
    left === 0
      ? `The proxy '${found.name}' was removed.`
      : `The proxy '${found.name}' was removed. What it was assigned to does not go direct: see 'gateway proxy assignments'.`,
    found.name
  )
})

const allSwitch = (word: "on" | "off") =>
  asking(word, "proxies", {}, function* (client) {
    const enabled = word === "on"
    const answer = yield* client.setSettings({ payload: { enabled } })
    yield* Output.result({
      schema: ProxySwitch,
      value: answer,
      text: Output.note(
        enabled
          ? "Calls without a proxy of their own go by the one of all."
          : "The proxy of all calls is not used: calls without one of their own go direct, by this machine's own address."
      ),
      name: word
    })
  })

export const proxyOn = allSwitch("on")
export const proxyOff = allSwitch("off")
