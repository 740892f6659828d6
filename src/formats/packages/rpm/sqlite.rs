//! `rpmdb.sqlite`: the `SQLite` table `Packages` with one header per row. `SQLite` reads the bytes in memory; it opens
//! no file.

use std::io::Read as _;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, MAIN_DB, Row};

use super::Blobs;

pub(super) const MAGIC: &[u8] = b"SQLite format 3\0";

/// Location of the file format versions in the database header; 2 means write-ahead log. An in-memory database has
/// none, so they are reset to 1.
const VERSIONS: std::ops::Range<usize> = 18..20;

/// The smallest database is one page of this size.
const SMALLEST: usize = 512;

/// Virtual machine steps of `SQLite` between two checks of the limits below.
const STEPS: i32 = 1000;

/// Maximum checks while the schema is read: some 60 rows of 10 steps each.
const SCHEMA_LOOKS: u32 = 100;

/// Maximum checks while rows are read, at 10 steps each: enough for a million.
const ROW_LOOKS: u32 = 10_000;

/// Maximum bytes of a text in the schema. Those of rpm are below 200.
const SCHEMA_BYTES: i32 = 4096;

/// Time limit of a database. Only a hostile one reaches it: a chain of pages shared by all rows is expensive in few
/// steps. Large real databases take well below a second.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn read(bytes: &[u8], blobs: &mut Blobs) {
    if bytes.len() < SMALLEST || !bytes.starts_with(MAGIC) {
        return blobs.problem(0, "truncated database");
    }
    if let Err(error) = read_rows(bytes, blobs) {
        // `SQLite` messages may quote the document, so only the kind of error is reported.
        let kind =
            error.sqlite_error_code().map_or_else(|| "no answer".to_owned(), |code| format!("{code:?}"));
        blobs.problem(0, format_args!("SQLite cannot read the database: {kind}"));
    }
}

fn read_rows(bytes: &[u8], blobs: &mut Blobs) -> rusqlite::Result<()> {
    let mut connection = open(bytes)?;
    bound(&mut connection, SCHEMA_LOOKS)?;
    if !is_table(&connection, "Packages")? {
        blobs.problem(0, "no table Packages");
        return Ok(());
    }
    if !is_plain(&connection, "Packages", "blob")? {
        blobs.problem(0, "table Packages without headers");
        return Ok(());
    }
    let whole = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, whole)?;
    bound(&mut connection, ROW_LOOKS)?;
    let mut statement = connection.prepare("SELECT blob FROM Packages NOT INDEXED")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (value, is_header) = match row.get_ref(0)? {
            ValueRef::Blob(header) => (header, true),
            ValueRef::Text(text) => (text, false),
            _ => (&[][..], false),
        };
        // A row is charged at least one byte, so that empty rows are limited too.
        if blobs.charge(0, value.len().saturating_add(1)) {
            if is_header {
                blobs.add(0, value);
            } else {
                blobs.problem(0, "row without a header");
            }
        }
        if blobs.is_full() {
            break;
        }
    }
    Ok(())
}

/// Whether a name is that of a table. A view or virtual table could execute SQL of the database.
fn is_table(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    let query = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1 AND rootpage > 0";
    Ok(connection.query_row(query, [name], |row| row.get::<_, u32>(0))? == 1)
}

/// Whether a column of a table is stored, not generated.
fn is_plain(connection: &Connection, table: &str, column: &str) -> rusqlite::Result<bool> {
    let query = "SELECT count(*) FROM pragma_table_xinfo(?1) WHERE name = ?2 AND hidden = 0";
    Ok(connection.query_row(query, [table, column], |row| row.get::<_, u32>(0))? == 1)
}

/// Passes three columns of each row of a table to `take`; names are constants, never from a document. `None` if the
/// table is missing, has more than `most` rows, or cannot be read completely.
pub(in super::super) fn rows(
    bytes: &[u8],
    table: &str,
    columns: [&str; 3],
    most: usize,
    mut take: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> Option<()> {
    if bytes.len() < SMALLEST || !bytes.starts_with(MAGIC) {
        return None;
    }
    let mut connection = open(bytes).ok()?;
    bound(&mut connection, SCHEMA_LOOKS).ok()?;
    let is_plain = |column: &&str| is_plain(&connection, table, column).is_ok_and(|plain| plain);
    if !is_table(&connection, table).ok()? || !columns.iter().all(is_plain) {
        return None;
    }
    bound(&mut connection, ROW_LOOKS).ok()?;
    let query = format!("SELECT {} FROM {table} NOT INDEXED", columns.join(", "));
    let mut statement = connection.prepare(&query).ok()?;
    let mut rows = statement.query([]).ok()?;
    let mut count = 0;
    while let Some(row) = rows.next().ok()? {
        count += 1;
        if count > most {
            return None;
        }
        take(row).ok()?;
    }
    Some(())
}

/// Interrupts the statements that follow after `looks` checks, or at the time limit.
fn bound(connection: &mut Connection, looks: u32) -> rusqlite::Result<()> {
    let mut passed = 0;
    let begun = Instant::now();
    let is_enough = move || {
        passed += 1;
        passed > looks || begun.elapsed() > PATIENCE
    };
    connection.progress_handler(STEPS, Some(is_enough))
}

/// The database in memory, read-only, with features disabled that a hostile one could use.
fn open(bytes: &[u8]) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, SCHEMA_BYTES),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, SCHEMA_BYTES),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 50),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        connection.set_limit(limit, most)?;
    }
    for (setting, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(setting, on)?;
    }
    connection.execute_batch("PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;")?;
    let (before, rest) = bytes.split_at_checked(VERSIONS.start).unwrap_or_default();
    let (versions, after) = rest.split_at_checked(VERSIONS.len()).unwrap_or_default();
    let versions: Vec<u8> = versions.iter().map(|version| if *version == 2 { 1 } else { *version }).collect();
    let patched = before.chain(versions.as_slice()).chain(after);
    connection.deserialize_read_exact(MAIN_DB, patched, bytes.len(), true)?;
    Ok(connection)
}
