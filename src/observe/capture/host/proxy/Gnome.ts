/**
 * GNOME, and the desktops that use its settings: https://gitlab.gnome.org/GNOME/gsettings-desktop-schemas, `org.gnome.system.proxy`.
 * A URL of a PAC file is not touched; the mode that uses it is restored.
 */
import { type Argv, neverProxied, proxyHost, type ProxyPlan, run, type Setting } from "./Plan.ts"

const schema = "org.gnome.system.proxy"

/** Strings of a list as GVariant's text form has them, quotes included. */
const listItems = (text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/gu), ([item]) => item)

/** The list with what must not be sent to the proxy. */
const withoutProxy = (before: string): string => {
  const items = listItems(before)
  const missing = neverProxied.map((host) => `'${host}'`).filter((host) => !items.includes(host))
  return missing.length === 0 ? before.trim() : `[${[...items, ...missing].join(", ")}]`
}

/**
 * `command` is `gsettings`, with what has to be before it. `ignoredBefore` is what `ignore-hosts` was, because ours is made of it.
 */
export const gnomePlan = (command: Argv, port: number, ignoredBefore: string): ProxyPlan => {
  const read = (group: string, key: string): Argv => [...command, "get", group, key]

  const plain = (group: string, key: string, ours: string, neutral: string): Setting => {
    const setting: Setting = {
      name: `${group} ${key}`,
      read: read(group, key),
      ours: [ours],
      neutral,
      set: () => [[...command, "set", group, key, ours]],
      undo: (before) => [run([...command, "set", group, key, before.trim()], [setting])]
    }
    return setting
  }

  const address = ["http", "https"].flatMap((kind) => [
    plain(`${schema}.${kind}`, "host", `'${proxyHost}'`, "''"),
    plain(`${schema}.${kind}`, "port", String(port), kind === "http" ? "8080" : "0")
  ])
  const ignored = withoutProxy(ignoredBefore)
  const mode = plain(schema, "mode", "'manual'", "'none'")
  const host = address[0] ?? mode
  return {
    desktop: "gnome",
    settings: [
      ...address,
      // Unchanged where it has all of them already.
      ...(ignored === ignoredBefore.trim() ? [] : [plain(schema, "ignore-hosts", ignored, ignoredBefore.trim())]),
      {
        ...mode,
        // The user has named another proxy since, so it stays.
        undo: (before) => [run([...command, "set", schema, "mode", before.trim()], [mode, host])]
      }
    ],
    refresh: [],
    // Without a session it says so, and reports success.
    rehearsal: (before) => [...command, "set", schema, "mode", (before.get(mode.name) ?? "'none'").trim()]
  }
}

export const gnomeIgnored = (command: Argv): Argv => [...command, "get", schema, "ignore-hosts"]
