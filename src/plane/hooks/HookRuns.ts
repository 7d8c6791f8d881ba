/** The hooks of an exchange. Pure. */
import { mayShowContent } from "../../contract/domain/ContentPermission.ts"
import { HookRun } from "../../agents/plugins/hooks/HookRun.ts"
import type { Envelope } from "../../wire/WireCodec.ts"
import { apiKeyIdOf, type Exchange } from "../request/Exchange.ts"

/**
 * Hot: checks whether plugins get all events of it. Of a request made to serve another one they get only those of calls
 * to providers.
 */
export const isCallersOwn = ({ madeFor }: Pick<Exchange, "madeFor">): boolean => madeFor !== "aside"

/** Names the endpoint: the name of the media route, `chat` for all conversations. */
export const endpointOf = ({ codec, service }: Pick<Exchange, "codec" | "service">): string =>
  codec.endpoint ?? (service === undefined ? "chat" : "search")

export const newRun = (exchange: Exchange): HookRun =>
  new HookRun({
    requestId: exchange.requestId,
    receivedMs: exchange.receivedMs,
    wire: exchange.wire,
    endpoint: endpointOf(exchange),
    headers: exchange.headers,
    apiKeyId: apiKeyIdOf(exchange),
    permission: mayShowContent(exchange.principal)
  })

/** Returns the run of the request; a new one where the request began without listeners, or is the gateway's own. */
export const runOf = (exchange: Exchange, envelope?: Pick<Envelope, "model" | "stream">): HookRun => {
  if (exchange.hooks !== undefined) return exchange.hooks
  const run = newRun(exchange)
  if (envelope !== undefined) {
    run.model = envelope.model
    run.stream = envelope.stream
  }
  return run
}
