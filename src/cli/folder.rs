//! The data folder as commands find it: whether there is a store in it, whether that can be used, and what is said where
//! it can't.

use super::out::Out;
use super::refusal::Refusal;
use crate::api::Route;
use crate::config::file::plain;
use crate::model::endpoint::Scope;
use crate::store::{Opened, Store, StoreError};
use std::path::Path;

/// Whether something can be known of such a service in such a folder: of another nothing is known, and that is not
/// nothing.
///
/// # Errors
/// No service can have this address, or nobody can look into the folder.
pub(super) fn can_be_known(scope: &Scope, folder: &Path) -> Result<(), Refusal> {
    Route::to(scope).map_err(Refusal::unusable)?;
    is_there(folder).map(|_| ())
}

/// Whether there is a store in the folder.
///
/// # Errors
/// Nobody can look into it.
pub(super) fn is_there(folder: &Path) -> Result<bool, Refusal> {
    Store::look_for(folder).map_err(|error| {
        let (folder, why) = (folder.display(), plain(&error));
        Refusal::unusable(format!(
            "The data folder {folder} can't be used ({why}): choose another one with --data-dir."
        ))
    })
}

/// Opens the store in a folder, whatever is known of a service; what it says was moved aside.
///
/// # Errors
/// It can't be used, or with `writing` not be written.
pub(super) fn open_store(folder: &Path, writing: bool, out: &mut Out) -> Result<Store, Refusal> {
    let (store, opened) = opened(folder, out)?;
    if writing && opened.read_only {
        return Err(unusable(folder, &StoreError::ReadOnly));
    }
    Ok(store)
}

/// As [`open_store`], for who has nothing to do with a store that had to be begun anew: an empty backup would take the place
/// of a good one.
///
/// # Errors
/// As [`open_store`]; it was damaged.
pub(super) async fn open_sound(folder: &Path, writing: bool, out: &mut Out) -> Result<Store, Refusal> {
    let (store, opened) = opened(folder, out)?;
    if opened.moved_aside.is_some() {
        store.close().await;
        return Err(Refusal::unusable("Nothing was done with the new store: it is empty."));
    }
    if writing && opened.read_only {
        return Err(unusable(folder, &StoreError::ReadOnly));
    }
    Ok(store)
}

fn opened(folder: &Path, out: &mut Out) -> Result<(Store, Opened), Refusal> {
    let (store, opened) = Store::open(folder, chrono::Utc::now()).map_err(|error| unusable(folder, &error))?;
    tell_moved_aside(&opened, out);
    Ok((store, opened))
}

/// What the store of this folder can't do, for commands that send nothing: the store's own sentences are about prompts.
pub(super) fn unusable(folder: &Path, error: &StoreError) -> Refusal {
    let folder = folder.display();
    Refusal::unusable(match error {
        StoreError::ReadOnly => {
            format!("The data folder {folder} can't be written, so nothing was changed: make it writable.")
        }
        StoreError::Full | StoreError::Refused => {
            format!("The disk of {folder} takes no more, so nothing was changed: free some space, then try again.")
        }
        StoreError::Busy => {
            format!("Another docdeck kept the store in {folder} locked, so nothing was changed: try again.")
        }
        other => other.failure().sentence.to_string(),
    })
}

/// Says that the store had to be begun anew.
pub(super) fn tell_moved_aside(opened: &Opened, out: &mut Out) {
    if let Some(path) = &opened.moved_aside {
        let path = path.display();
        out.note(&format!("docdeck: The store was damaged. It was moved to {path}, and a new one begun."));
    }
}
