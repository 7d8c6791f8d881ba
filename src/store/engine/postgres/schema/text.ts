/** The type of a text: compared and ordered by its bytes, as SQLite does, whatever the language of the server. */
export const text = 'TEXT COLLATE "C"'
