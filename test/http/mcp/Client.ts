/** The official MCP client against a gateway of a test. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { adminKey } from "../../support/TestGateway.ts"

export interface Connected {
  readonly client: Client
  readonly transport: StreamableHTTPClientTransport
}

/** Connects; `key` null: without a credential. */
export const connect = async (url: string, key: string | null = adminKey, path = "/mcp"): Promise<Connected> => {
  const client = new Client({ name: "test", version: "1.0.0" })
  const transport = new StreamableHTTPClientTransport(new URL(path, url), {
    requestInit: { headers: key === null ? {} : { authorization: `Bearer ${key}` } }
  })
  await client.connect(transport)
  return { client, transport }
}

export interface Called {
  readonly isError: boolean
  readonly text: string
  // eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
  readonly structured: any
}

/** Calls a tool. The client itself compares the answer with the tool's output schema, once it has listed the tools. */
export const call = async (
  { client }: Connected,
  name: string,
  input: Readonly<Record<string, unknown>> = {}
): Promise<Called> => {
  const result = await client.callTool({ name: `gateway_${name}`, arguments: input })
  const [first] = result.content as ReadonlyArray<{ readonly text?: string }>
  return { isError: result.isError === true, text: first?.text ?? "", structured: result.structuredContent }
}
