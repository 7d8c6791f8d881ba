/** Facts of this machine for the files of tools. */
import { existsSync } from "node:fs"
import { hostname } from "node:os"
import { harmless } from "../../../kernel/text/TerminalText.ts"
import { type Places, placesOf } from "../config/ToolSetup.ts"

/** Folders of the user whose home folder this is. */
export const placesIn = (home: string, environment: ReadonlyMap<string, string>): Places =>
  placesOf(home, environment, existsSync)

/** Name of the key of a tool on this machine. */
export const keyNameOf = ({ name }: { readonly name: string }): string =>
  `${name} on ${harmless(hostname()).slice(0, 60)}`
