/** Reads the typed filter of captured requests: `name:value` for what has a name, the rest is searched for. */
export interface ReadFilter {
  readonly query: Readonly<Record<string, string>>
  /** Words that are no filter although they look like one. */
  readonly wrong: ReadonlyArray<string>
}

const names: Readonly<Record<string, string>> = {
  host: "host",
  agent: "agent",
  status: "status",
  source: "source",
  model: "model",
  process: "process",
  pid: "pid",
  context: "contextKey",
  session: "sessionId",
  retries: "retryOf",
  kind: "profile"
}

const allowed: Readonly<Record<string, ReadonlyArray<string>>> = {
  status: ["2xx", "3xx", "4xx", "5xx", "error", "in-flight"],
  source: ["agent-bridge", "custom-host", "http-proxy", "system-proxy", "tproxy", "gateway"],
  profile: ["llm", "custom", "all"]
}

const mostChars = 2_000

export const readFilter = (text: string): ReadFilter => {
  const query: Record<string, string> = {}
  const wrong: Array<string> = []
  const rest: Array<string> = []
  for (const word of text.slice(0, mostChars).split(/\s+/).filter(Boolean)) {
    const at = word.indexOf(":")
    const name = at > 0 && Object.hasOwn(names, word.slice(0, at)) ? names[word.slice(0, at)] : undefined
    const value = word.slice(at + 1)
    if (name === undefined) rest.push(word)
    else if (value === "" || allowed[name]?.includes(value) === false || (name === "pid" && !/^\d{1,9}$/.test(value))) {
      wrong.push(word)
    } else query[name] = value
  }
  if (rest.length > 0) query["q"] = rest.join(" ")
  return { query, wrong }
}
