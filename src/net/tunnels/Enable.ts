/** Requests for tunnels, and the part of them that is stored. */
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { TunnelBackend } from "../../subjects/tunnels/entity.ts"
import { type OptionProblem, sshProblem } from "./ssh/Options.ts"

export type EnableTunnel = { readonly allowKeyless: boolean } & (
  | { readonly backend: "quick" }
  /** `authToken` null: the stored one, or that of `TOKEN_TUNNEL_AUTHTOKEN`. One that is given is stored, encrypted. */
  | { readonly backend: "token"; readonly authToken: Redacted.Redacted | null }
  /** `port`: the public port, 443, 8443 or 10000. `sudoPassword` is used for this call and never stored. */
  | { readonly backend: "mesh"; readonly port: number; readonly sudoPassword: Redacted.Redacted | null }
  /** `hostKey`: `SHA256:…` of the server's key; null: the one pinned before. */
  | {
      readonly backend: "ssh"
      readonly user: string
      readonly host: string
      readonly port: number
      /** 0: the server chooses a free one. */
      readonly remotePort: number
      readonly hostKey: string | null
    }
)

/** Ports that Tailscale's funnel may have: https://tailscale.com/kb/1223/funnel#requirements-and-limitations */
const meshPorts = [443, 8443, 10_000]

const tokens = /^[\x21-\x7e]{1,512}$/

/** The first option that cannot be used; null: none. Secrets are not part of it. */
export const problemOf = (tunnel: EnableTunnel): OptionProblem | null => {
  switch (tunnel.backend) {
    case "quick":
      return null
    case "token":
      return tunnel.authToken === null || tokens.test(Redacted.value(tunnel.authToken))
        ? null
        : {
            field: "authToken",
            message: "The authtoken has at most 512 characters, without spaces and control characters."
          }
    case "mesh":
      return meshPorts.includes(tunnel.port)
        ? null
        : { field: "port", message: `The port is one of: ${meshPorts.join(", ")}.` }
    case "ssh":
      return sshProblem(tunnel)
  }
}

/** Selects the stored part, without secrets. */
export const toStored = (tunnel: EnableTunnel): Readonly<Record<string, unknown>> => {
  switch (tunnel.backend) {
    case "quick":
    case "token":
      return {}
    case "mesh":
      return { port: tunnel.port }
    case "ssh": {
      const { host, hostKey, port, remotePort, user } = tunnel
      return { host, hostKey, port, remotePort, user }
    }
  }
}

const readMesh = Schema.decodeUnknownOption(Schema.Struct({ port: Schema.Number }))
const readSsh = Schema.decodeUnknownOption(
  Schema.Struct({
    user: Schema.String,
    host: Schema.String,
    port: Schema.Number,
    remotePort: Schema.Number,
    hostKey: Schema.NullOr(Schema.String)
  })
)

/** Null: it cannot be used. The authtoken is stored apart. */
export const fromStored = (
  backend: TunnelBackend,
  allowKeyless: boolean,
  options: Readonly<Record<string, unknown>>
): EnableTunnel | null => {
  const read = (): EnableTunnel | null => {
    switch (backend) {
      case "quick":
        return { backend, allowKeyless }
      case "token":
        return { backend, allowKeyless, authToken: null }
      case "mesh":
        return Option.match(readMesh(options), {
          onNone: () => null,
          onSome: ({ port }) => ({ backend, allowKeyless, port, sudoPassword: null })
        })
      case "ssh":
        return Option.match(readSsh(options), {
          onNone: () => null,
          onSome: (found) => ({ backend, allowKeyless, ...found })
        })
    }
  }
  const tunnel = read()
  return tunnel === null || problemOf(tunnel) !== null ? null : tunnel
}
