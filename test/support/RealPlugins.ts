/** Plugins for tests of a running gateway: written, installed and activated as by a person, and run in the sandbox. */
import type { TestGateway } from "./TestGateway.ts"

export interface RealPlugin {
  /** Members of the manifest but name, version and main. */
  readonly manifest: Readonly<Record<string, unknown>>
  /** Members of what `definePlugin` is given. */
  readonly members: string
  /** Code before the definition, in the same module. */
  readonly before?: string
  readonly grant?: ReadonlyArray<string>
}

type Managing = Pick<TestGateway, "manage">

export const plugins = "/api/plugins"

export const moduleOf = (name: string, members: string, before = ""): string =>
  `import { addMetadata, blockRequest, definePlugin, modifyBody } from "gateway/plugin"
${before}
export default definePlugin({ name: ${JSON.stringify(name)}, ${members} })
`

export const installPlugin = async (
  gateway: Managing,
  name: string,
  { before, grant = [], manifest, members }: RealPlugin
): Promise<void> => {
  await gateway.manage("POST", plugins, {
    manifest: { name, version: "1.0.0", main: "index.js", ...manifest },
    files: { "index.js": moduleOf(name, members, before) }
  })
  await gateway.manage("POST", `${plugins}/${name}/activate`, { grant })
}

/** One of those that come with the gateway. */
export const installSample = async (
  gateway: Managing,
  name: string,
  values: Readonly<Record<string, unknown>>,
  grant: ReadonlyArray<string> = []
): Promise<void> => {
  await gateway.manage("POST", `${plugins}/marketplace/${name}/install`)
  await gateway.manage("PUT", `${plugins}/${name}/config`, { values })
  await gateway.manage("POST", `${plugins}/${name}/activate`, { grant })
}

// eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
export const shownPlugin = async (gateway: Managing, name: string): Promise<any> =>
  (await gateway.manage("GET", `${plugins}/${name}`)).plugin

/** Lines of its log, the oldest first. */
export const linesOf = async (gateway: Managing, name: string): Promise<ReadonlyArray<string>> =>
  (await gateway.manage("GET", `${plugins}/${name}/logs`)).logs.map(({ message }: { message: string }) => message)
