/** The built-in rule packs. None of their words denies, counts, limits or orders anything. */
import * as Schema from "effect/Schema"
import { decodeData } from "../../../kernel/DataFile.ts"
import { Pack } from "./Pack.ts"
import builtIn from "./packs.yaml"

export const packs: ReadonlyArray<Pack> = decodeData(Schema.Array(Pack))(builtIn)
