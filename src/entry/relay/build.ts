/** Version of the program as processes tell it each other: they understand each other only when they are of one build. */
import { version } from "../../platform/Version.ts"

export const build = version
