/** A call as a line for a shell. The key stands as a variable: a secret is in no clipboard that way. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

export interface Asked {
  readonly method: string
  /** The whole address. */
  readonly url: string
  /** Null: none. */
  readonly body: unknown
}

export const curlOf = ({ body, method, url }: Asked): string =>
  [
    "curl",
    ...(method === "GET" ? [] : ["-X", method]),
    quoted(url),
    "-H",
    '"Authorization: Bearer $GATEWAY_API_KEY"',
    ...(body === null ? [] : ["-H", quoted("Content-Type: application/json"), "-d", quoted(JSON.stringify(body))])
  ].join(" ")
