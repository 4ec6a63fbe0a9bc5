//! `tiebreak wire`: steps of Cucumber that state claims and race for them.

use crate::exit;
use crate::io::Io;
use crate::options::Store;
use clap::Args;
use tiebreak_lab::input::steps;
use tiebreak_lab::session::Book;
use tiebreak_lab::wire::Server;
use tiebreak_lab::{LabError, interrupt, source};

#[derive(Debug, Args)]
pub struct WireOptions {
    /// The port of 127.0.0.1 to listen on; 0 for any that is free
    #[arg(long, value_name = "PORT", default_value_t = 54321)]
    pub port: u16,

    /// Print the port, and nothing else, on standard output, once the server listens
    #[arg(long)]
    pub print_port: bool,

    /// List the steps, and serve none
    #[arg(long)]
    pub steps: bool,

    #[arg(long)]
    pub seed: Option<String>,

    /// Say nothing of clients and verdicts
    #[arg(long, short = 'q')]
    pub quiet: bool,

    #[command(flatten)]
    pub store: Store,
}

pub fn run(options: &WireOptions, io: &mut Io) -> Result<u8, LabError> {
    if options.steps {
        io.out(&steps::listing());
        return Ok(exit::HOLDS);
    }
    let stop = interrupt::flag();
    let book = Book::here(source::store_path(options.store.path())?, io.typed.clone());
    let server = Server::listen(options.port, options.seed.as_deref(), book)?;
    if options.print_port {
        io.out(&format!("{}\n", server.port()));
    }
    let mut say = |text: &str| {
        if !options.quiet {
            io.err(&format!("{text}\n"));
        }
    };
    say(&format!("listening on 127.0.0.1:{}, seed {}", server.port(), server.seed()));
    server.serve(stop, say);
    Ok(exit::INTERRUPTED)
}
