//! Tables of pages with rules for tidy: a table is found by the names of its columns.

/// A row of a table, cell by cell, without the bars and the spaces around them.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// The line of the page, counted from 1.
    pub line: usize,
    /// One text for each column.
    pub cells: Vec<String>,
}

/// Returns the rows of the first table of the page whose columns have these names, in this order.
pub fn find(page: &str, columns: &[&str]) -> Option<Vec<Row>> {
    let mut lines = page.lines().enumerate();
    lines.find(|(_, line)| cells(line).iter().map(String::as_str).eq(columns.iter().copied()))?;
    let rows = lines.skip(1).take_while(|(_, line)| line.trim_start().starts_with('|'));
    Some(
        rows.map(|(i, line)| {
            let mut cells = cells(line);
            cells.resize(columns.len(), String::new());
            Row { line: i + 1, cells }
        })
        .collect(),
    )
}

fn cells(line: &str) -> Vec<String> {
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    inner.split('|').map(|cell| cell.trim().to_owned()).collect()
}

/// Returns the texts between the backticks of a cell, in order.
pub fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_found_by_its_columns() {
        let page =
            "# T\n| x | y |\n|---|---|\n| no | no |\n\n| a | b |\n|---|---|\n| `1` | 2 |\n|3|\n\n";
        let rows = find(page, &["a", "b"]).unwrap();
        assert_eq!(rows[0], Row { line: 8, cells: vec!["`1`".into(), "2".into()] });
        assert_eq!(rows[1].cells, ["3", ""]);
        assert_eq!(rows.len(), 2);
        assert_eq!(find(page, &["a", "c"]), None);
    }

    #[test]
    fn backticks_quote() {
        assert_eq!(quoted("`a`, `b` and c"), ["a", "b"]);
        assert_eq!(quoted("-"), [""; 0]);
    }
}
