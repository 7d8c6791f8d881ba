/** An admin session as a page of the gateway's own address has it, and work that it begins and does not wait for. */

export const password = "correct horse battery staple"

export type Headers = Readonly<Record<string, string>>

/** Signs in. The headers are all proofs that a request comes from a page of ours. */
export const signIn = async (gateway: {
  readonly post: (path: string, body: unknown) => Promise<Response>
}): Promise<Headers> => {
  const login = await gateway.post("/api/auth/login", { password })
  const { csrfToken } = (await login.json()) as { csrfToken: string }
  return {
    cookie: (login.headers.getSetCookie()[0] ?? "").split(";")[0] ?? "",
    "x-csrf-token": csrfToken,
    "sec-fetch-site": "same-origin"
  }
}
