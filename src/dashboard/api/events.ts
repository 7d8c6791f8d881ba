/** Reads a stream of server-sent events. */
export const readEvents = async (
  body: ReadableStream<Uint8Array>,
  onEvent: (data: string, name: string) => void
): Promise<void> => {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let rest = ""
  let name = "message"
  const onLine = (line: string): void => {
    if (line.startsWith("event:")) name = line.slice("event:".length).trim()
    else if (line.startsWith("data:")) onEvent(line.slice("data:".length).trim(), name)
    else if (line.trim() === "") name = "message"
  }
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (rest + decoder.decode(part.value, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) onLine(line)
  }
}
