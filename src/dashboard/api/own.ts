/** Asks as the API key that was typed in. It is in memory only: not in the address, in storage, or in a cookie, and none is sent beside it. */
import { signal } from "@preact/signals"
import { ApiError, readError } from "./ApiError.ts"
import { addressOf, gatewayUrl } from "./client.ts"
import { learnClock } from "./clock.ts"
import { csrfToken } from "./session.ts"

export const ownKey = signal<string | null>(null)

interface Asked {
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly signal?: AbortSignal
}

const headersWith = (key: string): Headers => {
  try {
    return new Headers({ Authorization: `Bearer ${key}` })
  } catch {
    throw new ApiError("This is no API key: it has characters that no key has.", {
      status: 401,
      code: "invalid_api_key"
    })
  }
}

const answerOf = async (path: string, { query, signal: leaving }: Asked, key: string): Promise<unknown> => {
  const response = await fetch(new URL(addressOf(path, { query }), gatewayUrl), {
    headers: headersWith(key),
    credentials: "omit",
    cache: "no-store",
    signal: leaving ?? null
  }).catch((error: unknown) => {
    throw leaving?.aborted === true ? error : ApiError.unreachable()
  })
  learnClock(Date.parse(response.headers.get("date") ?? ""))
  if (!response.ok) throw await readError(response)
  return await response.json()
}

/** Asks a call of the API as a key: the one that is held, or one that is tried. */
export const askAs = <Answered>(
  call: { readonly path: string } & ((...asked: never) => Promise<Answered>),
  asked: Asked = {},
  key: string = ownKey.value ?? ""
): Promise<Answered> => answerOf(call.path, asked, key) as Promise<Answered>

interface ModelList {
  readonly data?: ReadonlyArray<{ readonly id?: unknown }>
}

const idsIn = ({ data = [] }: ModelList): ReadonlyArray<string> =>
  data.flatMap(({ id }) => (typeof id === "string" ? [id] : []))

/** Ids of the models that a key of the signed-in person may use. */
export const modelsAs = async (keyId: string, leaving: AbortSignal): Promise<ReadonlyArray<string>> => {
  const response = await fetch(new URL("v1/models", gatewayUrl), {
    headers: { "X-Gateway-As-Key": keyId, "X-CSRF-Token": csrfToken.value ?? "" },
    cache: "no-store",
    signal: leaving
  }).catch((error: unknown) => {
    throw leaving.aborted ? error : ApiError.unreachable()
  })
  if (!response.ok) throw await readError(response)
  return idsIn((await response.json()) as ModelList)
}

/** Ids of the models that the key may ask. */
export const ownModels = async (leaving: AbortSignal): Promise<ReadonlyArray<string>> =>
  idsIn((await answerOf("/v1/models", { signal: leaving }, ownKey.value ?? "")) as ModelList)
