/** Other names of verbs that most nouns have. */
export const list = { aliases: ["ls"] }
export const add = { aliases: ["create", "new"] }
export const remove = { aliases: ["delete", "rm"] }
