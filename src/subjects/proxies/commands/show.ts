/** `gateway proxy list`, `test` and `find-free`. */
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { FreeProxiesFound, ProxyTested, TestProxy } from "../routes.ts"
import { CommandFailed } from "../../../cli/Failure.ts"
import { body } from "../../../cli/flags/Flags.ts"
import * as Output from "../../../cli/output/Output.ts"
import { columns, Proxies } from "./rows.ts"
import { proxies } from "../../../cli/finding/pickProxy.ts"
import { asking } from "../../../cli/verbs/asking.ts"
import { listOf, on } from "../../../cli/verbs/noun.ts"

export const proxyList = listOf(proxies, {
  schema: Proxies,
  columns,
  empty: "There are no proxies; calls go direct. Add one with 'gateway proxy add socks5://host:1080'."
})

const fetched = Options.text("fetch").pipe(
  Options.withDescription("What to fetch through it; without it the setting proxies.testUrl."),
  Options.optional
)

export const proxyTest = on("test", proxies, { address: fetched }, function* ({ client, found, given }) {
  const payload = yield* body(
    TestProxy,
    { proxyId: found.id, url: Option.getOrUndefined(given.address) },
    { url: "--fetch" }
  )
  const answer = yield* client.test({ payload })
  const seen = answer.egressIp === null ? "" : ` It leaves by ${answer.egressIp}.`
  yield* Output.result({
    schema: ProxyTested,
    value: answer,
    text: answer.ok ? Output.note(`'${found.name}' works, ${answer.latencyMs} ms.${seen}`) : Effect.void,
    name: found.name
  })
  if (!answer.ok) {
    yield* new CommandFailed({ message: `${found.name}: ${answer.error ?? "The test failed."}` })
  }
})

export const proxyFindFree = asking("find-free", "proxies", {}, function* (client) {
  yield* Output.remark("Reading the lists and trying what they name; this may take a minute.")
  const answer = yield* client.findFree()
  yield* Output.remark(
    `${Output.counted(answer.listed, "new proxy").replace("proxys", "proxies")} listed, ${answer.tested} tried. Strangers run them: they may not carry keys unless proxies.freeProxiesMayCarryKeys says so.`
  )
  yield* Output.list({
    schema: FreeProxiesFound,
    value: answer,
    rows: answer.proxies,
    columns,
    empty: "None of them works."
  })
})
