/** A proxy as it is typed: `socks5://alice@203.0.113.7:1080`. Pure. */
import * as Either from "effect/Either"

export interface TypedProxy {
  readonly type: string
  readonly host: string
  readonly port: number
  readonly username: string | null
}

const defaultPorts: Readonly<Record<string, number>> = { http: 8080, https: 443, socks5: 1080 }

const forms =
  "Write it as http://host:port, https://host:port or socks5://host:port, with user@ before the host where one is needed."

/** Reads an address. Left: its problem. A password in it is refused. */
export const readAddress = (text: string): Either.Either<TypedProxy, string> => {
  const parts = /^([a-z\d]+):\/\/(?:([^@/]*)@)?([^/?#@]+?)(?::(\d+))?\/?$/i.exec(text.trim())
  const type = (parts?.[1] ?? "").toLowerCase()
  // With SOCKS5 the proxy resolves names in any case, which some programs write as 'socks5h'.
  const known = type === "socks5h" ? "socks5" : type
  const port = defaultPorts[known]
  if (parts === null || port === undefined)
    return Either.left(`'${known === "" ? "It" : known}' is no address of a proxy. ${forms}`)
  const user = parts[2] ?? null
  if (user?.includes(":") === true) {
    return Either.left(
      "A password does not belong on the command line, where others can read it. Give it with --password-stdin."
    )
  }
  try {
    const username = user === null || user === "" ? null : decodeURIComponent(user)
    return Either.right({
      type: known,
      host: parts[3] ?? "",
      port: parts[4] === undefined ? port : Number(parts[4]),
      username
    })
  } catch {
    return Either.left("The user name is not percent-encoded as a URL needs it.")
  }
}
