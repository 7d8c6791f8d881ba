/**
 * Stands in for Claude Code where a block of a page calls it. `mcp add` connects to the server that it is given, by the official SDK, and lists its
 * tools: it fails where the real program could use nothing. Everything else prints a line.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"

const args = process.argv.slice(2)

const parse = (words) => {
  const end = words.indexOf("--")
  const own = end === -1 ? words : words.slice(0, end)
  const found = { command: end === -1 ? [] : words.slice(end + 1), headers: {}, env: {}, transport: "stdio", names: [] }
  for (let at = 0; at < own.length; at += 1) {
    const word = own[at]
    if (!word.startsWith("-")) {
      found.names.push(word)
      continue
    }
    const value = own[(at += 1)] ?? ""
    if (word === "--transport" || word === "-t") found.transport = value
    else if (word === "--header" || word === "-H") {
      const colon = value.indexOf(":")
      found.headers[value.slice(0, colon)] = value.slice(colon + 1).trim()
    } else if (word === "--env" || word === "-e") {
      const equals = value.indexOf("=")
      found.env[value.slice(0, equals)] = value.slice(equals + 1)
    } else if (word !== "--scope" && word !== "-s") throw new Error(`There is no option ${word}.`)
  }
  return found
}

const add = async (words) => {
  const { command, env, headers, names, transport } = parse(words)
  const [name, url] = names
  const [program, ...rest] = command
  const way =
    transport === "http"
      ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
      : new StdioClientTransport({ command: program, args: rest, env: { ...process.env, ...env } })
  const client = new Client({ name: "claude-code", version: "2.0.0" })
  await client.connect(way)
  const { tools } = await client.listTools()
  await client.close()
  if (tools.length === 0) throw new Error("The server has no tool.")
  process.stdout.write(`Added ${transport} MCP server ${name}: ${tools.length} tools\n`)
}

const stop = (error) => {
  process.stderr.write(`claude: ${error.message}\n`)
  process.exit(1)
}
if (args[0] === "mcp" && args[1] === "add") add(args.slice(2)).then(() => process.exit(0), stop)
else process.stdout.write("started\n")
